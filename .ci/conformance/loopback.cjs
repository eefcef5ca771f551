// Preloaded into the suite: what would listen on every interface listens on loopback alone. The suite reads the
// port right after listen(), so the address must be bound at once, which listen() with a host does not do.
const net = require("net");
const { TCP, constants } = process.binding("tcp_wrap");
const listen = net.Server.prototype.listen;

function portOf([first, second]) {
  if (/^\d+$/.test(String(first))) return typeof second === "string" ? undefined : Number(first);
  const open = first && typeof first === "object" && first.port !== undefined && !first.host && !first.path;
  return open ? Number(first.port) : undefined;
}

net.Server.prototype.listen = function (...given) {
  const port = portOf(given);
  if (port === undefined) return listen.apply(this, given);
  const done = given.find((each) => typeof each === "function");
  const handle = new TCP(constants.SERVER);
  if (handle.bind("127.0.0.1", port) === 0) return listen.call(this, handle, done);
  handle.close(); // taken: let the ordinary way report it
  return listen.call(this, { port, host: "127.0.0.1" }, done);
};
