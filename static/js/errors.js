// The error summary is where a page with errors is read from. Its links show the whole question, not its control alone.
export function focusErrors(main) {
  const errors = main.querySelector("[data-errors]");
  errors?.focus();
  if (main.querySelector("[data-wizard]")) return; // there the steps see to it
  errors?.addEventListener("click", (event) => {
    const target = document.getElementById(event.target.closest("a")?.hash.slice(1));
    if (!target) return;
    event.preventDefault();
    reveal(target);
  });
}

// Focus a control, or the first one in here, with its label, hint and error in sight.
export function reveal(target) {
  const inside = "h2, input:not([type=hidden]), select, textarea, a[href], button";
  const wanted = target.matches(inside) ? target : target.querySelector(inside);
  target.closest("details")?.setAttribute("open", "");
  (wanted ?? target).focus({ preventScroll: true });
  (target.closest(".field, details") ?? target).scrollIntoView({ block: "start" });
}
