// A page as a document, parsed by the browser: no strings of HTML in our hands (the policy forbids them anyway).
// Null where the app is out of reach; `gone` where it has no such page (any more). Without a body it is not counted as activity of the person.
export function fetchPage(path, body = null) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open(body ? "POST" : "GET", path);
    if (!body) request.setRequestHeader("X-Mrtr-Poll", "1");
    request.responseType = "document";
    request.timeout = 20000;
    request.onload = () => resolve(request.response && found(request));
    request.onerror = request.ontimeout = () => resolve(null);
    request.send(body);
  });
}

function found(request) {
  return { page: request.response, path: new URL(request.responseURL).pathname, gone: request.status === 404 };
}
