// Entries that come and go, kinds that are chosen, links that fill in: the server draws the form anew from what is
// filled in; with scripts in place, without them as a page.
import { keptLink } from "./comeback.js";
import { reveal } from "./errors.js";
import { fetchPage } from "./fetch.js";

export function shape(main, enhance) {
  const form = main.querySelector("form[data-shape]");
  if (!form) return;
  for (const button of form.querySelectorAll("[data-show-branch]")) button.hidden = true;
  form.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-structure]");
    if (!button) return;
    event.preventDefault();
    redraw(form, filled(form, button.value), enhance, button);
  });
  form.addEventListener("change", (event) => {
    event.target.closest("[data-branch]")?.parentElement.querySelector("[data-show-branch]").click();
  });
  if (form.dataset.address) history.replaceState(history.state, "", form.dataset.address);
  followLink(form, enhance);
}

// What a link holds behind its # reaches the app by POST alone, and leaves the address at once.
function followLink(form, enhance) {
  const link = location.hash.slice(1) || keptLink();
  if (!link?.includes("=")) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  const body = filled(form, "fill");
  body.set("fill", link);
  redraw(form, body, enhance);
}

function filled(form, wish) {
  const body = new FormData(form);
  body.set("do", wish);
  return body;
}

export async function redraw(form, body, enhance, button) {
  form.setAttribute("aria-busy", "true");
  const found = await fetchPage(form.getAttribute("action"), body);
  const fresh = found?.page.querySelector("main form[data-shape]")?.closest("main");
  if (!form.isConnected) return;
  if (!fresh) return unreachable(form, button);
  const main = form.closest("main");
  const wanted = button && new URL(button.formAction).hash.slice(1);
  const adds = button?.value.startsWith("add ");
  main.replaceWith(document.importNode(fresh, true));
  enhance();
  document.querySelector("form[data-shape]").dispatchEvent(new Event("input"));
  if (wanted) show(document.getElementById(wanted), adds);
}

function show(place, adds) {
  if (!place) return;
  const announcer = document.querySelector("[data-announcer]");
  announcer.textContent = announcer.dataset.changed;
  const entries = place.querySelectorAll(":scope > .entry");
  reveal((adds && entries[entries.length - 1]) || place);
}

// Signed out, or out of reach: the button does what it does without scripts, and the page says why.
function unreachable(form, button) {
  form.removeAttribute("aria-busy");
  if (!button) return;
  button.removeAttribute("data-structure");
  form.requestSubmit(button);
}
