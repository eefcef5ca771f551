// Half-typed answers survive a reload of this tab. Never secrets, never past the round, never after signing out.
const PREFIX = "mrtr-draft:";
const SENT = "mrtr-sent";
const PASSED_OVER = new Set(["hidden", "password", "file", "submit", "button"]);
let submitting = false;

export function drafts(main, enhance) {
  submitting = false;
  const form = main.querySelector("form[data-draft]");
  const key = form && PREFIX + form.dataset.draft;
  forgetOld(main);
  for (const leaving of document.querySelectorAll("[data-forget-draft]")) {
    leaving.addEventListener("submit", () => forget((name) => name === key));
  }
  if (form) keep(form, key, document.documentElement.dataset.drafts !== "off", enhance);
}

function keep(form, key, allowed, enhance) {
  let dirty = fields(form).some(isChanged); // what was typed before the scripts came counts, too
  let timer = 0;
  const save = () => {
    clearTimeout(timer);
    if (dirty && allowed && !submitting) put(key, JSON.stringify(read(form)));
    if (dirty && get(key)) tellKept(form);
  };
  const byLink = "address" in form.dataset || ("shape" in form.dataset && location.hash.includes("="));
  const start = () => allowed && !byLink && !("bound" in form.dataset) && bringBack(form, saved(key), enhance);
  if (restoredByHalves(form)) addEventListener("pageshow", () => (form.reset(), start()), { once: true });
  else start();
  form.addEventListener("input", () => {
    dirty = true;
    clearTimeout(timer);
    timer = setTimeout(save, 200);
  });
  form.addEventListener("submit", () => {
    save();
    submitting = true;
    put(SENT, key);
  });
  addEventListener("pagehide", () => form.isConnected && save());
  addEventListener("beforeunload", (event) => {
    const lost = dirty && form.isConnected && !submitting && (!allowed || hasSecret(form));
    if (lost) event.preventDefault();
  });
  document.addEventListener("submit", ({ target }) => {
    if (target.target === "_blank") return;
    if (form.isConnected && !("forgetDraft" in target.dataset)) save(); // signing out asks first, and may come back
    submitting = true;
  });
}

// Where that is true of all that can be typed there.
function tellKept(form) {
  const words = form.querySelector("[data-kept]");
  if (words) words.hidden = form.querySelector("[data-secret]") !== null;
}

// The page of a flow says which round is on: whatever else was kept for it, and the form sent last, is over.
function forgetOld(main) {
  const { flow, flowState, round } = main.dataset;
  if ("signedOut" in document.documentElement.dataset) forget(() => true);
  if (!flow) return;
  const sent = get(SENT);
  const current = flowState === "waiting" ? `${PREFIX}${flow}:${round}` : "";
  forget((name) => name !== current && ([sent, SENT].includes(name) || name.startsWith(`${PREFIX}${flow}:`)));
}

function isChanged(field) {
  return field.value !== (field.defaultValue ?? field.value) || field.checked !== field.defaultChecked;
}

function fields(form) {
  return [...form.elements].filter(
    (field) => field.name && (!PASSED_OVER.has(field.type) || isShape(field)) && !("secret" in field.dataset),
  );
}

// Which entries and kinds are there: the server draws them again.
const isShape = (field) => field.type === "hidden" && "structure" in field.dataset;

// On the way back the browser fills in by position, and knows nothing of entries and kinds that came later.
function restoredByHalves(form) {
  const [entry] = performance.getEntriesByType("navigation");
  const back = entry?.type === "back_forward" && document.readyState !== "complete";
  return back && !("bound" in form.dataset) && form.querySelector("[data-structure]") !== null;
}

function bringBack(form, values, enhance) {
  const now = read(form);
  const shapes = (of) => JSON.stringify(Object.entries(of).filter(([name]) => /-(in|drawn|items|branch|as)$/.test(name)).sort());
  if (!("shape" in form.dataset) || !Object.keys(values).length || shapes(values) === shapes(now)) return write(form, values);
  const body = new FormData();
  for (const field of form.querySelectorAll("input[type=hidden]:not([data-structure])")) body.set(field.name, field.value);
  for (const [name, all] of Object.entries(values)) for (const value of all) body.append(name, value);
  body.set("do", "draft");
  return import("./shape.js").then(({ redraw }) => redraw(form, body, enhance)); // only a form of many shapes needs it
}

const isChecked = (field) => field.type === "radio" || field.type === "checkbox";

function read(form) {
  const values = {};
  for (const field of fields(form)) {
    values[field.name] ??= [];
    if (!isChecked(field) || field.checked) values[field.name].push(field.value);
  }
  return values;
}

function write(form, values) {
  for (const field of fields(form)) {
    const kept = values[field.name];
    if (!Array.isArray(kept)) continue;
    if (isChecked(field)) field.checked = kept.includes(field.value);
    else restore(field, kept[0] ?? "");
    if (isChanged(field)) field.closest("details")?.setAttribute("open", "");
  }
}

function restore(field, value) {
  const before = field.value;
  field.value = value;
  if (field.value !== value) field.value = before; // another kind of control now
}

function hasSecret(form) {
  return [...form.elements].some((field) => "secret" in field.dataset && field.value);
}

// Storage may be full, switched off or filled by others.
function get(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

function put(key, text) {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    return;
  }
}

function saved(key) {
  try {
    return JSON.parse(get(key)) ?? {};
  } catch {
    return {};
  }
}

function forget(which) {
  try {
    const ours = Object.keys(sessionStorage).filter((name) => name.startsWith(PREFIX) || name === SENT);
    for (const name of ours.filter(which)) sessionStorage.removeItem(name);
  } catch {
    return;
  }
}
