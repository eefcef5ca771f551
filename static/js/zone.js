// The browser knows where it is: its zone is offered beside every date and time that is still empty.
export function zones(main) {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const select of main.querySelectorAll("form:not([data-bound]) [data-zone]")) {
    const options = select.options ?? select.list?.options ?? [];
    if ([...options].some((option) => option.value === here)) select.value = here;
  }
}
