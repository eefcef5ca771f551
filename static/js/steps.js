// The steps of a round, one at a time. All stay in the one form: moving about never loses what was typed.
import { reveal } from "./errors.js";

export function steps(main) {
  const form = main.querySelector("form[data-wizard]");
  if (!form) return;
  const wizard = new Wizard(main, form);
  wizard.open(wizard.first, wizard.targetOf(location.hash));
  form.addEventListener("keydown", (event) => wizard.onKey(event));
  main.addEventListener("click", (event) => wizard.onClick(event));
  addEventListener("popstate", () => form.isConnected && wizard.onPop());
}

// The word for a step that was seen: what must be filled in is, or the person decided. The server has the last word.
function wordOf(step) {
  const actions = [...step.querySelectorAll('input[type=radio][name$="-action"]')];
  const action = actions.find((each) => each.checked)?.value;
  if (action && action !== "accept") return action;
  const isOpen = (actions.length && !action) || ![...step.querySelectorAll("[data-needed]")].every(isFilled);
  return isOpen ? "open" : "done";
}

function isFilled(field) {
  const controls = [...field.querySelectorAll("input, textarea, select")];
  return controls.some((each) => (["radio", "checkbox"].includes(each.type) ? each.checked : each.value.trim()));
}

class Wizard {
  constructor(main, form) {
    this.main = main;
    this.form = form;
    this.title = document.title;
    this.steps = [...form.querySelectorAll("[data-step]")];
    this.seen = new Set();
    const wrong = this.steps.findIndex((step) => "wrong" in step.dataset);
    this.first = Math.max(wrong, 0);
  }

  get isLast() {
    return this.current === this.steps.length - 1;
  }

  // Whoever came from the check goes back to it from any step.
  get mayEnd() {
    return this.isLast || "changes" in this.form.dataset;
  }

  // The element that a fragment names, if it is in one of the steps.
  targetOf(hash) {
    const target = hash.length > 1 ? document.getElementById(hash.slice(1)) : null;
    return target && this.stepOf(target) >= 0 ? target : null;
  }

  stepOf(target) {
    return this.steps.findIndex((step) => step.contains(target));
  }

  // When the page is drawn: errors first, then where a link leads.
  open(index, target) {
    const wrong = this.main.querySelector("[data-errors]");
    this.show(target && !wrong ? this.stepOf(target) : index);
    if (target && !wrong) reveal(target);
  }

  show(index) {
    this.current = index;
    this.seen.add(index);
    this.steps.forEach((step, number) => (step.hidden = number !== index));
    this.form.querySelector("[data-back]").hidden = index === 0;
    this.form.querySelector("[data-next]").hidden = this.mayEnd;
    this.form.querySelector("[data-send]").hidden = !this.mayEnd;
    this.form.querySelector("[data-move]").hidden = this.steps.length < 2;
    if (this.steps.length > 1) this.mark();
  }

  mark() {
    const count = this.steps[this.current].querySelector("[data-count]").textContent.trim();
    const refused = this.main.querySelector("[data-errors]"); // then the title begins with the error
    document.title = refused ? `${this.title} – ${count}` : `${count} – ${this.title}`;
    this.main.querySelectorAll("[data-step-of]").forEach((item, number) => {
      const status = item.querySelector("[data-later]");
      const here = number === this.current;
      const wrong = "wrong" in this.steps[number].dataset;
      const word = here ? "current" : wrong ? "wrong" : this.wordFor(number);
      status.textContent = status.dataset[word];
      item.dataset.status = word;
      if (here) item.querySelector("a").setAttribute("aria-current", "step");
      else item.querySelector("a").removeAttribute("aria-current");
    });
  }

  wordFor(number) {
    if (!this.seen.has(number) && !("bound" in this.form.dataset)) return "later";
    return wordOf(this.steps[number]);
  }

  // Go somewhere so that the browser's Back button leads back here.
  go(target) {
    history.pushState(null, "", `${this.form.dataset.page}#${target.id}`);
    this.reveal(target);
  }

  reveal(target) {
    this.show(this.stepOf(target));
    reveal(target);
  }

  move(by) {
    this.go(this.steps[this.current + by]);
  }

  onPop() {
    const target = this.targetOf(location.hash);
    if (target) this.reveal(target);
    else this.reveal(this.steps[this.first]);
  }

  onClick(event) {
    if (event.target.closest("[data-next]")) return this.move(1);
    if (event.target.closest("[data-back]")) return this.move(-1);
    const link = event.target.closest('a[href^="#"]');
    const target = link && this.targetOf(link.hash);
    if (!target) return undefined;
    event.preventDefault();
    return this.go(target);
  }

  // Enter in a field goes on instead of sending everything, save on the last step.
  onKey(event) {
    if (event.key !== "Enter" || event.isComposing || this.mayEnd || !event.target.matches("input")) return;
    event.preventDefault();
    this.move(1);
  }
}
