// Suggestions of the server for what is being typed, as the browser's own list. Asked for after a pause, by POST.
const PAUSE = 250;

export function suggestions(main) {
  const form = main.querySelector("form[data-suggest]");
  if (!form) return;
  const inputs = form.querySelectorAll(".fields input[type=text]:not([data-secret])");
  form.querySelector("[data-suggest-hint]").hidden = inputs.length === 0;
  for (const input of inputs) watch(form, input);
}

function watch(form, input) {
  const list = document.createElement("datalist");
  list.id = `${input.id}_suggestions`;
  input.after(list);
  input.setAttribute("list", list.id);
  input.autocomplete ||= "off"; // what says the purpose of an input (WCAG 1.3.5) stays
  let timer = 0;
  let request = null;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    request?.abort();
    if (chosen(input, list) || !input.value) return;
    timer = setTimeout(async () => {
      request = new AbortController();
      show(list, await ask(form, input, request.signal));
    }, PAUSE);
  });
}

const chosen = (input, list) => [...list.options].some((option) => option.value === input.value);

async function ask(form, input, signal) {
  const body = new FormData(form);
  body.set("kind", form.dataset.kind);
  body.set("name", form.dataset.name);
  body.set("typing", input.name);
  try {
    const answer = await fetch(form.dataset.suggest, { method: "POST", body, signal });
    return answer.ok ? (await answer.json()).values : [];
  } catch {
    return null; // out of reach, or typed on
  }
}

function show(list, values) {
  if (!values) return;
  list.replaceChildren(...values.map((value) => new Option(value, value)));
}
