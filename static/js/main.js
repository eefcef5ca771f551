// Pages that are of no other kind.
import { copyButtons } from "./copy.js";
import { page } from "./page.js";
import { resend } from "./resend.js";

page(copyButtons, resend);
