// The pages of the review desk look again where something has moved, and put the parts that may differ in place: what
// somebody types or has opened stays.
import { fetchPage } from "./fetch.js";

const EVERY = 15000; // times go by, and hints may be lost

export function desk(main) {
  if (!("desk" in main.dataset)) return;
  let looking = false;
  let again = false;
  const look = async () => {
    again = looking;
    if (looking) return;
    looking = true;
    await renew(main);
    looking = false;
    if (again) look();
  };
  for (const hint of ["flow-moved", "flow-look"]) main.addEventListener(hint, look);
  setInterval(look, EVERY);
}

async function renew(main) {
  const found = await fetchPage(location.pathname + location.search);
  if (!found) return;
  const fresh = found.page.querySelector("main[data-desk]");
  if (!fresh) return location.reload(); // signed out, or no longer a reviewer
  main.dataset.mark = fresh.dataset.mark;
  for (const part of main.querySelectorAll("[data-desk-part]")) replace(part, fresh);
}

function replace(part, page) {
  const fresh = page.querySelector(`[data-desk-part="${part.dataset.deskPart}"]`);
  if (!fresh || fresh.innerHTML === part.innerHTML || isUsed(part)) return;
  const focused = part.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  part.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
  if (focused) [...part.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
}

// Somebody types there.
function isUsed(part) {
  return [...part.querySelectorAll("textarea, input:not([type=hidden])")].some(
    (input) => input.value !== input.defaultValue || input === document.activeElement,
  );
}
