// A tab in the background says by its title and icon that the person is needed, or that the request is over.
const icon = document.querySelector("link[rel=icon]");
const plain = icon.href;
let title = null;

export function attention(main) {
  const { news, icon: marked } = main.dataset;
  if (document.hidden && news) {
    title = document.title;
    document.title = `${news}: ${title}`;
    icon.href = marked;
  } else calm(null);
}

function calm(restored) {
  if (restored !== null) document.title = restored;
  icon.href = plain;
  title = null;
}

document.addEventListener("visibilitychange", () => document.hidden || calm(title));
