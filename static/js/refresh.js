// While a leg is in the air, look again and again, and put the new page in place when the flow has moved.
import { fetchPage } from "./fetch.js";
import { spoken } from "./spoken.js";

const GOING_ON = ["busy", "queued"];
const SOONEST = 1000;
const LATEST = 5000;
const GROWTH = 1.15;

// What makes two pages of a flow different: `running` and `not_yet` look the same while they go on.
const kindOf = (main) => main.dataset.poll || main.dataset.flowState;

export function refresh(main, enhance) {
  if (!GOING_ON.includes(main.dataset.poll)) return;
  count(main);
  let pause = SOONEST;
  const again = () => {
    setTimeout(look, pause);
    pause = Math.min(pause * GROWTH, LATEST);
  };
  const look = async () => {
    if (!main.isConnected) return undefined;
    const found = await fetchPage(location.pathname);
    const fresh = found?.page.querySelector("main[data-flow-state]");
    if (found && found.path !== location.pathname) return location.reload(); // signed out
    if (fresh && kindOf(fresh) !== kindOf(main)) return swap(main, found.page, enhance);
    note(main, fresh);
    return again();
  };
  again();
}

function note(main, fresh) {
  main.querySelector("[data-poll-trouble]").hidden = Boolean(fresh);
  if (!fresh) return;
  main.dataset.flowState = fresh.dataset.flowState;
  main.dataset.round = fresh.dataset.round;
}

function swap(main, page, enhance) {
  const fresh = document.importNode(page.querySelector("main"), true);
  main.replaceWith(fresh);
  document.title = page.title;
  const announcer = document.querySelector("[data-announcer]");
  announcer.textContent = announcer.dataset.changed;
  fresh.querySelector("h1")?.focus();
  scrollTo(0, 0);
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
