// What every page has, and around it what its kind of page adds. All of it is comfort: without scripts each page works
// as plain forms and links.
import { attention } from "./attention.js";
import { leaveNoCopies } from "./bfcache.js";
import { drafts } from "./drafts.js";
import { focusErrors } from "./errors.js";
import { settleHistory } from "./posted.js";
import { session } from "./session.js";
import { zones } from "./zone.js";

// What is added comes after the drafts, since it looks at the chosen answers, and before what changes the title.
export function page(...added) {
  const parts = [settleHistory, zones, drafts, ...added, focusErrors, attention];
  const enhance = () => {
    const main = document.querySelector("main");
    for (const part of parts) part(main, enhance);
  };
  leaveNoCopies();
  enhance();
  session();
}
