// The review desk.
import { desk } from "./desk.js";
import { live } from "./live.js";
import { page } from "./page.js";
import { shortcuts } from "./shortcuts.js";

page(desk, live, shortcuts);
