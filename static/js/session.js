// Warns before the session ends, and lets the person stay signed in. The server says how long it lasts: other tabs and
// other work count, so it is asked again before anybody is disturbed.
import { call, calm } from "./attention.js";
import { fetchPage } from "./fetch.js";
import { spoken } from "./spoken.js";

const LONGEST = 3600e3; // timers of weeks overflow
const ASK_AGAIN = 60e3; // while the app is out of reach

export function session() {
  const home = document.querySelector("[data-session]");
  if (!home) return;
  const dialog = home.querySelector("dialog");
  const announcer = home.querySelector("[data-session-announcer]");
  const tabs = new BroadcastChannel("session");
  let ends = 0;
  let timer = null;

  const show = (kind) => {
    if (dialog.dataset.kind === kind) return;
    for (const each of home.querySelectorAll("[data-session-say]")) {
      const says = each.dataset.sessionSay;
      each.hidden = !(says === kind || (says === "soon" && kind !== "over"));
    }
    const title = dialog.querySelector("h2");
    title.hidden = false;
    if (kind === "over") title.textContent = announcer.dataset.over;
    announcer.textContent = "";
    call({ news: title.textContent, icon: announcer.dataset.icon });
    if (!dialog.open) dialog.showModal();
    dialog.querySelector(".actions > :not([hidden])").focus();
    dialog.dataset.kind = kind;
  };

  const plan = (from) => {
    ends = Date.now() + Number(from.dataset.seconds) * 1000;
    home.dataset.final = "final" in from.dataset ? "yes" : "";
    clearTimeout(timer);
    timer = setTimeout(() => look(), Math.min(Math.max(ends - Date.now() - Number(from.dataset.warn) * 1000, 0), LONGEST));
  };

  const warned = () => ends - Date.now() <= Number(home.dataset.warn) * 1000;

  async function look(found = null) {
    const page = found ?? (await fetchPage(home.dataset.session));
    const fresh = page?.page.querySelector("[data-session]");
    if (page && !fresh && page.path !== home.dataset.session) return show("over");
    if (fresh) plan(fresh);
    if (!warned()) {
      if (fresh) close();
      if (!fresh) timer = setTimeout(() => look(), ASK_AGAIN);
      return undefined;
    }
    clearTimeout(timer);
    if (!dialog.dataset.kind) show(home.dataset.final ? "final" : "idle");
    return tick();
  }

  function tick() {
    const left = Math.max(0, Math.round((ends - Date.now()) / 1000));
    dialog.querySelector("[data-session-clock]").textContent = spoken(left);
    clearTimeout(timer);
    timer = left > 0 ? setTimeout(tick, 1000) : setTimeout(() => look(), 1500);
  }

  function close() {
    if (!["idle", "final"].includes(dialog.dataset.kind)) return; // what was signed out stays lost
    delete dialog.dataset.kind;
    dialog.close();
    calm();
    announcer.textContent = announcer.dataset.stays;
  }

  async function stay(event) {
    event.preventDefault();
    const found = await fetchPage(home.dataset.session, new FormData(event.target));
    const fresh = found?.page.querySelector("[data-session]");
    dialog.querySelector("[data-session-trouble]").hidden = Boolean(fresh || found?.path !== home.dataset.session);
    if (!fresh) return found && look(await fetchPage(home.dataset.session));
    tabs.postMessage("stays");
    close();
    return look(found);
  }

  dialog.querySelector("form").addEventListener("submit", stay);
  for (const button of dialog.querySelectorAll("[data-session-close]")) button.addEventListener("click", () => dialog.close());
  const again = () => !document.hidden && warned() && look(); // timers sleep with the machine
  document.addEventListener("visibilitychange", again);
  window.addEventListener("focus", again);
  tabs.addEventListener("message", () => look());
  plan(home);
}
