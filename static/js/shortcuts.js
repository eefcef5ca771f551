// Keys for those who go through many requests. None does anything in a field or with a dialog open, and all can be
// switched off (WCAG 2.1.4). A cookie knows that: signing out empties every other place.
const OFF = "mrtr_shortcuts=off";
const YEAR = 365 * 24 * 3600;

export function shortcuts(main) {
  const box = main.querySelector("[data-shortcuts]");
  if (!box) return;
  const use = box.querySelector("input");
  use.checked = !document.cookie.split("; ").includes(OFF);
  use.addEventListener("change", () => remember(use.checked));
  const keys = { j: () => walk(main, 1), k: () => walk(main, -1), "/": () => filter(main), "?": () => open(box) };
  let goes = false;
  document.addEventListener("keydown", (event) => {
    if (!use.checked || event.key === "Shift" || isForOthers(event)) return;
    const there = goes && box.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
    goes = event.key === "g";
    if (there) there.click();
    else if (!keys[event.key]?.()) return;
    event.preventDefault();
  });
}

function remember(on) {
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `${OFF}; path=/review/; samesite=lax; max-age=${on ? 0 : YEAR}${secure}`;
}

function isForOthers(event) {
  const held = event.ctrlKey || event.metaKey || event.altKey || event.isComposing;
  return held || event.target.closest("input, select, textarea") || document.querySelector("dialog[open]");
}

function walk(main, by) {
  const links = [...main.querySelectorAll('[data-desk-part="rows"] tbody th a')];
  const here = links.indexOf(document.activeElement);
  const next = links[here < 0 ? 0 : here + by];
  next?.focus();
  return next;
}

function filter(main) {
  const form = main.querySelector("form.filter");
  const folded = form?.closest("details");
  if (folded) folded.open = true;
  form?.querySelector("input, select").focus();
  return form;
}

function open(box) {
  box.open = true;
  box.querySelector("summary").focus();
  return box;
}
