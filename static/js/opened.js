// Once a page was opened in its tab, what comes next here is to say so.
export function opened(main) {
  const link = main.querySelector("[data-opens]");
  const finished = main.querySelector("[data-opened]");
  const turn = () => [link, finished].forEach((each) => each.classList.toggle("button--quiet", each === link));
  if (finished) for (const kind of ["click", "auxclick"]) link.addEventListener(kind, turn);
}
