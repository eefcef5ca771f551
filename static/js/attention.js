// A tab in the background says by its title and icon that the person is needed, or that the request is over.
const icon = document.querySelector("link[rel=icon]");
const plain = icon.href;
let title = null;

export function attention(main) {
  calm(null); // the page has a title of its own by now
  call(main.dataset);
}

export function call({ news, icon: marked }) {
  if (!document.hidden || !news) return;
  title ??= document.title;
  document.title = `${news}: ${title}`;
  icon.href = marked;
}

export function calm(restored = title) {
  if (restored !== null) document.title = restored;
  icon.href = plain;
  title = null;
}

document.addEventListener("visibilitychange", () => document.hidden || calm());
