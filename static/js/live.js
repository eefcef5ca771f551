// One socket for the page of an open flow. It says that the flow has moved, or how far the server is; what to make
// of that is for others, who listen to the events. Without it the page polls, as fast as it does without sockets.
const SOONEST = 1000;
const LATEST = 30000;
const SESSION_OVER = 4401;
let line = null;

export function live(main) {
  const address = main.dataset.live ?? "";
  if (line?.address === address) return line.serve(main);
  line?.end();
  line = address ? new Line(main, address) : null;
}

class Line {
  constructor(main, address) {
    this.address = address;
    this.main = main;
    this.pause = SOONEST;
    this.connect();
  }

  // The page was put in place anew: what shows the flow now is another element.
  serve(main) {
    if ("online" in this.main.dataset) main.dataset.online = "";
    this.main = main;
  }

  connect() {
    const url = new URL(this.address, location.href.replace(/^http/, "ws"));
    url.search = new URLSearchParams({ seen: this.main.dataset.mark });
    this.socket = new WebSocket(url);
    this.socket.onopen = () => this.opened();
    this.socket.onmessage = (event) => this.tell(JSON.parse(event.data));
    this.socket.onclose = (event) => this.closed(event.code);
  }

  opened() {
    this.pause = SOONEST;
    this.main.dataset.online = "";
  }

  tell(said) {
    const type = said.type === "moved" ? "flow-moved" : "flow-progress";
    this.main.dispatchEvent(new CustomEvent(type, { detail: said }));
  }

  closed(code) {
    const wasOnline = "online" in this.main.dataset;
    delete this.main.dataset.online;
    if (wasOnline) this.main.dispatchEvent(new Event("flow-look"));
    if (code === SESSION_OVER) return;
    this.timer = setTimeout(() => this.connect(), this.pause * (0.5 + Math.random() / 2));
    this.pause = Math.min(this.pause * 2, LATEST);
  }

  end() {
    clearTimeout(this.timer);
    this.socket.onclose = null;
    this.socket.close();
  }
}
