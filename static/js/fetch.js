// A page as a document, parsed by the browser: no strings of HTML in our hands (the policy forbids them anyway).
// Null where the app is out of reach. Not counted as activity of the person.
export function fetchPage(path) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("GET", path);
    request.setRequestHeader("X-Mrtr-Poll", "1");
    request.responseType = "document";
    request.timeout = 20000;
    request.onload = () => resolve(request.response && { page: request.response, path: new URL(request.responseURL).pathname });
    request.onerror = request.ontimeout = () => resolve(null);
    request.send();
  });
}
