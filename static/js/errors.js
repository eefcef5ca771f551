// The error summary is where a page with errors is read from.
export function focusErrors(main) {
  main.querySelector("[data-errors]")?.focus();
}
