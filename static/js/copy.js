// Buttons that copy the text of a box: data-copy names the box, data-copied is said afterwards.
export function copyButtons(main) {
  for (const button of main.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
}

async function copy(button) {
  const box = document.getElementById(button.dataset.copy);
  box.select();
  try {
    await navigator.clipboard.writeText(box.value);
  } catch {
    document.execCommand("copy"); // no permission, or not a secure context
  }
  button.firstChild.textContent = `${button.dataset.copied} `;
  document.querySelector("[data-announcer]").textContent = button.dataset.copied;
}
