// The browser knows where it is. Only where nothing was typed or posted, and the app had nothing better than UTC.
export function zones(main) {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const select of main.querySelectorAll('form:not([data-bound]) select[name$="-zone"]')) {
    const typed = select.form.elements[select.name.replace(/-zone$/, "")];
    const known = [...select.options].some((option) => option.value === here);
    if (select.value === "UTC" && known && !typed?.value) select.value = here;
  }
}
