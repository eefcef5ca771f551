// Buttons that copy a text: data-copy names the element that holds it, data-copied is said afterwards.
export function copyButtons(main) {
  for (const button of main.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
}

async function copy(button) {
  const box = document.getElementById(button.dataset.copy);
  if (box.select) box.select();
  else getSelection().selectAllChildren(box);
  try {
    await navigator.clipboard.writeText(box.value ?? box.textContent);
  } catch {
    document.execCommand("copy"); // no permission, or not a secure context
  }
  button.firstChild.textContent = `${button.dataset.copied} `;
  document.querySelector("[data-announcer]").textContent = button.dataset.copied;
}
