// A page that answers a post would ask "send again?" on Back and reload: its entry in the history becomes the
// page that can be asked for, where drafts fill in what was typed.
export function settleHistory(main) {
  const form = main.querySelector("form[data-bound], form[data-check]");
  if (form) history.replaceState(null, "", (form.dataset.page ?? location.pathname + location.search) + location.hash);
}
