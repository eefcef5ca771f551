// While a leg is in the air, look again and again, and put the new page in place when the flow has moved.
const SOONEST = 1000;
const LATEST = 5000;
const GROWTH = 1.15;

// What makes two pages of a flow different: `running` and `not_yet` look the same while they go on.
const kindOf = (main) => main.dataset.poll || main.dataset.flowState;

export function refresh(main, enhance) {
  if (main.dataset.poll !== "busy") return;
  count(main);
  let pause = SOONEST;
  const again = () => {
    setTimeout(look, pause);
    pause = Math.min(pause * GROWTH, LATEST);
  };
  const look = async () => {
    if (!main.isConnected) return;
    const page = await fetchPage();
    if (page === "elsewhere") location.reload();
    else if (!page) trouble(main, true);
    else if (kindOf(page.querySelector("main")) !== kindOf(main)) return swap(main, page, enhance);
    else note(main, page.querySelector("main"));
    again();
  };
  again();
}

function note(main, fresh) {
  trouble(main, false);
  main.dataset.flowState = fresh.dataset.flowState;
  main.dataset.round = fresh.dataset.round;
}

// The page as a document; null where the app is out of reach, "elsewhere" where it leads away (signed out).
function fetchPage() {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("GET", location.pathname);
    request.setRequestHeader("X-Mrtr-Poll", "1");
    request.responseType = "document"; // parsed by the browser: no strings of HTML in our hands
    request.timeout = 20000;
    request.onload = () => {
      const page = request.response;
      if (page?.querySelector("main[data-flow-state]")) resolve(page);
      else resolve(new URL(request.responseURL).pathname === location.pathname ? null : "elsewhere");
    };
    request.onerror = request.ontimeout = () => resolve(null);
    request.send();
  });
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

function trouble(main, is) {
  const notice = main.querySelector("[data-poll-trouble]");
  if (notice) notice.hidden = !is;
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

function spoken(seconds) {
  const unit = (value, name) =>
    new Intl.NumberFormat(document.documentElement.lang, { style: "unit", unit: name, unitDisplay: "long" }).format(value);
  const minutes = Math.floor(seconds / 60);
  const rest = unit(seconds % 60, "second");
  return minutes ? `${unit(minutes, "minute")} ${rest}` : rest;
}
