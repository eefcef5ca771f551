// The pages of the review desk look again where something has moved, and put the parts that differ in place: what
// somebody types, or is about to press, stays.
import { fetchPage } from "./fetch.js";

const EVERY = 15000; // times go by, and hints may be lost
const PRESSED = 500;

export function desk(main) {
  if (!("desk" in main.dataset)) return;
  let looking = false;
  let again = false;
  const look = async () => {
    again = looking;
    if (looking) return;
    looking = true;
    const done = await renew(main);
    looking = false;
    if (again) look();
    else if (!done) setTimeout(look, PRESSED);
  };
  for (const hint of ["flow-moved", "flow-look"]) main.addEventListener(hint, look);
  setInterval(look, EVERY);
}

// False where a part could not be put in place just now.
async function renew(main) {
  const found = await fetchPage(location.pathname + location.search);
  if (!found) return true;
  const fresh = found.page.querySelector("main[data-desk]");
  if (!fresh) return leave(main);
  main.dataset.mark = fresh.dataset.mark;
  return [...main.querySelectorAll("[data-desk-part]")].map((part) => replace(part, fresh)).every(Boolean);
}

// Signed out, or no longer a reviewer.
function leave(main) {
  const notice = main.querySelector("[data-desk-left]");
  if (isTyped(main) && notice) notice.hidden = false;
  else location.reload();
  return true;
}

function replace(part, page) {
  const fresh = page.querySelector(`[data-desk-part="${part.dataset.deskPart}"]`);
  if (!fresh || isSame(part, fresh) || isTyped(part)) return true;
  if (part.matches(":active")) return false; // a click on what is replaced would get lost
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  if (focused && !focused.href) return true; // the next look may find it free
  part.dataset.facts = fresh.dataset.facts ?? "";
  part.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
  if (focused) [...part.querySelectorAll("a")].find((link) => link.href === focused.href)?.focus();
  return true;
}

// Forms differ each time, by their tokens: what they depend on is named.
function isSame(part, fresh) {
  return fresh.dataset.facts ? fresh.dataset.facts === part.dataset.facts : fresh.innerHTML === part.innerHTML;
}

function isTyped(part) {
  return [...part.querySelectorAll("textarea, input:not([type=hidden])")].some(
    (input) => input.value !== input.defaultValue,
  );
}
