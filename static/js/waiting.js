// The questions of a round, and the check of the answers. No other page is put in their place: somebody types here.
import { live } from "./live.js";
import { opened } from "./opened.js";
import { page } from "./page.js";
import { refresh } from "./refresh.js";
import { steps } from "./steps.js";

page(steps, opened, refresh, live);
