// A request in any state: its next page is put in place here, so this has what all of them need.
import { copyButtons } from "./copy.js";
import { live } from "./live.js";
import { opened } from "./opened.js";
import { page } from "./page.js";
import { progress } from "./progress.js";
import { refresh } from "./refresh.js";
import { steps } from "./steps.js";

page(steps, opened, copyButtons, refresh, progress, live);
