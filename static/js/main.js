// Everything here is comfort: without scripts each page works as plain forms and links.
import { attention } from "./attention.js";
import { leaveNoCopies } from "./bfcache.js";
import { keepLink } from "./comeback.js";
import { copyButtons } from "./copy.js";
import { decisions } from "./decide.js";
import { desk } from "./desk.js";
import { drafts } from "./drafts.js";
import { focusErrors } from "./errors.js";
import { live } from "./live.js";
import { settleHistory } from "./posted.js";
import { progress } from "./progress.js";
import { refresh } from "./refresh.js";
import { resend } from "./resend.js";
import { session } from "./session.js";
import { shape } from "./shape.js";
import { steps } from "./steps.js";
import { suggestions } from "./suggest.js";
import { zones } from "./zone.js";

function enhance() {
  const main = document.querySelector("main");
  settleHistory(main);
  keepLink(main);
  zones(main);
  drafts(main, enhance); // before what looks at the chosen answers
  decisions(main);
  steps(main);
  suggestions(main);
  shape(main, enhance);
  copyButtons(main);
  focusErrors(main);
  resend(main);
  refresh(main, enhance);
  progress(main);
  desk(main);
  live(main);
  attention(main); // after what changes the title
}

leaveNoCopies();
enhance();
session();
