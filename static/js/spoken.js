// A number of seconds in words of the page's language.
export function spoken(seconds) {
  const unit = (value, name) =>
    new Intl.NumberFormat(document.documentElement.lang, { style: "unit", unit: name, unitDisplay: "long" }).format(value);
  const minutes = Math.floor(seconds / 60);
  const rest = unit(seconds % 60, "second");
  return minutes ? `${unit(minutes, "minute")} ${rest}` : rest;
}
