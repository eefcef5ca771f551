// A lost post is sent again with a fresh token: signing in, in another tab, has made the old one useless.
import { fetchPage } from "./fetch.js";

export function resend(main) {
  const form = main.querySelector("form[data-resend]");
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const found = await fetchPage(form.dataset.resend);
    const fresh = found?.page.querySelector("[name=csrfmiddlewaretoken]");
    if (fresh) form.querySelector("[name=csrfmiddlewaretoken]").value = fresh.value;
    HTMLFormElement.prototype.submit.call(form); // an input may be named "submit"
  });
}
