// How far the server is, by its own word: a bar, a number where it names a total, and what it says.
const EVERY = 10000;
let lastSaid = -Infinity;

export function progress(main) {
  const place = main.querySelector("[data-progress]");
  if (!place) return;
  main.addEventListener("flow-progress", (event) => show(place, event.detail));
  let over = false; // another leg may be on, of which nothing is known yet
  main.addEventListener("flow-moved", () => (over = true));
  main.addEventListener("flow-fetched", (event) => {
    const parts = over || !("online" in main.dataset) ? [".busy__line", "[data-says]", "[data-count]"] : ["[data-count]"];
    copy(place, event.detail.querySelector("[data-progress]"), parts);
    over = false;
  });
}

// As the server has drawn it; the clock beside it goes on.
function copy(place, drawn, parts) {
  for (const part of parts) {
    place.querySelector(part).replaceWith(document.importNode(drawn.querySelector(part), true));
  }
}

function show(place, { progress, total, message }) {
  const bar = place.querySelector("progress");
  const share = total ? Math.min(progress / total, 1) : null;
  if (share === null) bar.removeAttribute("value");
  else bar.value = share;
  const number = share === null ? "" : new Intl.NumberFormat(document.documentElement.lang, { style: "percent" }).format(share);
  place.querySelector("[data-share]").textContent = number;
  const says = place.querySelector("[data-says]");
  says.hidden = !message;
  says.querySelector("bdi").textContent = message ?? "";
  announce([number, message].filter(Boolean).join(": "));
}

// Those who listen are told now and then, not four times a second.
function announce(words) {
  if (!words || performance.now() - lastSaid < EVERY) return;
  lastSaid = performance.now();
  document.querySelector("[data-announcer]").textContent = words;
}
