// What a link was to fill in, while the person is away to sign in: it stays in this tab, and reaches no address again.
const PREFIX = "mrtr-draft:link:"; // of a draft: gone with all others when somebody signs out
const LASTS = 15 * 60 * 1000;

export function keepLink(main) {
  const link = [location.search.slice(1), location.hash.slice(1)].filter((part) => part.includes("=")).join("&");
  if (!("comeBack" in main.dataset) || !link || document.documentElement.dataset.drafts === "off") return;
  try {
    sessionStorage.setItem(PREFIX + location.pathname, JSON.stringify({ link, at: Date.now() }));
  } catch {
    return; // full, or switched off: the form comes back empty
  }
}

// Used once.
export function keptLink() {
  const key = PREFIX + location.pathname;
  try {
    const { link, at } = JSON.parse(sessionStorage.getItem(key)) ?? {};
    sessionStorage.removeItem(key);
    return Date.now() - at < LASTS ? link : "";
  } catch {
    return "";
  }
}
