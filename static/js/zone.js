// The browser knows where it is: its zone is offered beside every date and time that is still empty.
export function zones(main) {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const select of main.querySelectorAll("form:not([data-bound]) select[data-zone]")) {
    if ([...select.options].some((option) => option.value === here)) select.value = here;
  }
}
