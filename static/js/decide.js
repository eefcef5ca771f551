// Fields of a step that is declined or left undecided are out of the way; what was typed stays in them.
export function decisions(main) {
  for (const group of main.querySelectorAll("[data-decide]")) {
    const step = group.closest("[data-step]");
    const update = () => {
      const answered = group.querySelector("input:checked")?.value === "accept";
      step.querySelector("[data-answer]").hidden = !answered;
      group.querySelector("[data-unanswered]").hidden = answered;
    };
    group.addEventListener("change", update);
    update();
  }
}
