// The form that starts a request.
import { keepLink } from "./comeback.js";
import { copyButtons } from "./copy.js";
import { page } from "./page.js";
import { shape } from "./shape.js";
import { suggestions } from "./suggest.js";

page(keepLink, suggestions, shape, copyButtons);
