// Look again where the flow has moved, and put the new page in place. While a leg is in the air the page looks by
// itself: often without a socket, now and then with one, since hints may be lost.
import { call } from "./attention.js";
import { fetchPage } from "./fetch.js";
import { spoken } from "./spoken.js";

const GOING_ON = ["busy", "queued"];
const SOONEST = 1000;
const LATEST = 5000;
const GROWTH = 1.15;
const ONLINE = 15000;
const SENDING = 10000;
let sent = -Infinity;

// What makes two pages of a flow different: `running` and `not_yet` look the same while they go on.
const kindOf = ({ dataset }) => dataset.poll || `${dataset.flowState}.${dataset.round}`;
// A form on its way brings a page of its own.
const isSending = () => performance.now() - sent < SENDING;

export function refresh(main, enhance) {
  if (!main.dataset.flow) return;
  const goesOn = GOING_ON.includes(main.dataset.poll);
  let pause = SOONEST;
  let timer = 0;
  let looking = false;
  let once = false;
  const later = (wait) => {
    clearTimeout(timer);
    timer = setTimeout(look, wait);
  };
  const look = async () => {
    once = looking;
    if (looking || !main.isConnected) return;
    if (isSending()) return later(SENDING);
    looking = true;
    const done = await compare(main, enhance);
    looking = false;
    if (done) return;
    if (once) look();
    else if (goesOn) later(main.dataset.poll === "busy" && "online" in main.dataset ? ONLINE : pause);
    pause = Math.min(pause * GROWTH, LATEST);
  };
  for (const hint of ["flow-moved", "flow-look"]) main.addEventListener(hint, look);
  if (!goesOn) return;
  count(main);
  later(pause);
}

// Fetches the page; true where it was put in place, or nothing more is to be found out.
async function compare(main, enhance) {
  const found = await fetchPage(location.pathname);
  if (!main.isConnected) return true;
  if (isSending()) return false;
  const fresh = found?.page.querySelector("main[data-flow-state]");
  const typed = main.querySelector("[data-moved-on]");
  if (found?.gone && typed) tellMoved(typed);
  const left = found && (found.gone || found.path !== location.pathname); // signed out
  if (left) return leave(main, typed);
  note(main, fresh);
  if (!fresh || kindOf(fresh) === kindOf(main)) return false;
  if (typed) tellMoved(typed, found.page);
  else swap(main, found.page, enhance);
  return true;
}

// Signed out, or the request is gone.
function leave(main, typed) {
  const notice = main.querySelector("[data-left]");
  if (!typed) location.reload();
  else if (notice && typed.hidden) notice.hidden = false;
  return true;
}

// What was typed here stays, whatever another tab has sent.
function tellMoved(notice, page = null) {
  notice.hidden = false;
  notice.querySelector("[data-moved-why]").textContent = page?.querySelector("[data-why]")?.textContent ?? "";
  document.querySelector("[data-announcer]").textContent = notice.textContent;
}

document.addEventListener("submit", ({ target }) => target.target !== "_blank" && (sent = performance.now()));

function note(main, fresh) {
  const trouble = main.querySelector("[data-poll-trouble]");
  if (trouble) trouble.hidden = Boolean(fresh);
  if (!fresh || kindOf(fresh) !== kindOf(main)) return;
  main.dataset.flowState = fresh.dataset.flowState;
  main.dataset.round = fresh.dataset.round;
  main.dataset.mark = fresh.dataset.mark;
  renewNotices(main.querySelector("[data-notices]"), fresh.querySelector("[data-notices]"), main.dataset);
  main.dispatchEvent(new CustomEvent("flow-fetched", { detail: fresh }));
}

// A reviewer reminds, or the server is switched off: what is typed below stays.
function renewNotices(old, fresh, news) {
  if (!old || !fresh || old.textContent === fresh.textContent) return;
  const notices = document.importNode(fresh, true);
  old.replaceWith(notices);
  document.querySelector("[data-announcer]").textContent = notices.textContent.trim();
  call(news);
}

function swap(main, page, enhance) {
  const fresh = document.importNode(page.querySelector("main"), true);
  // Whoever is at the links above the page stays there.
  const wasHere = document.activeElement === document.body || main.contains(document.activeElement);
  main.replaceWith(fresh);
  const foot = page.querySelector(".foot"); // its switch of languages leaves what is typed here alone
  if (foot) document.querySelector(".foot").replaceWith(document.importNode(foot, true));
  document.title = page.title;
  const announcer = document.querySelector("[data-announcer]");
  announcer.textContent = announcer.dataset.changed;
  if (wasHere) {
    fresh.querySelector("h1")?.focus();
    scrollTo(0, 0);
  }
  enhance();
}

function count(main) {
  const clock = main.querySelector("[data-elapsed]");
  const began = performance.now() - Number(clock.dataset.elapsed) * 1000;
  const tick = () => {
    if (!main.isConnected) return;
    clock.textContent = spoken(Math.round((performance.now() - began) / 1000));
    setTimeout(tick, 1000);
  };
  tick();
}
