// A page that the browser kept alive may show a round that is over: ask for it anew.
export function leaveNoCopies() {
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}
