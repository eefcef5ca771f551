// A server that is not built on the official SDK: tmcp runs the handler anew for each round. Its requestState is
// plain JSON, with what was typed in it; it answers as an event stream and leaves the mode of a form out.
import http from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.argv[2]}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { McpServer } = await load("tmcp");
const { HttpTransport } = await load("@tmcp/transport-http");
const { ZodJsonSchemaAdapter } = await load("@tmcp/adapter-zod");
const { createRequestListener } = await load("@remix-run/node-fetch-server");
const z = await load("zod");

const server = new McpServer(
  { name: "tables", version: "1.0.0" },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } },
);
const text = (words) => ({ content: [{ type: "text", text: words }] });

async function bookTable({ restaurant }) {
  const guest = z.object({ name: z.string().min(1), guests: z.number().int().min(1).max(12) });
  const who = await server.elicitation(`Who comes to ${restaurant}?`, guest, { key: "who" });
  if (who.action !== "accept") return text(`No table: ${who.action}`);
  const days = z.object({ day: z.enum(["today", "tomorrow", "saturday"]) });
  const when = await server.elicitation("Which day?", days, { key: "when" });
  if (when.action !== "accept") return text(`No table: ${when.action}`);
  const { name, guests } = who.content;
  const sure = z.object({ sure: z.boolean() });
  const ok = await server.elicitation(`${guests} guests, ${when.content.day}. Sure?`, sure, { key: "ok" });
  if (ok.action !== "accept" || !ok.content.sure) return text("No table");
  return text(`A table at ${restaurant} for ${name}, ${guests} guests, ${when.content.day}`);
}

async function link() {
  const answer = await server.elicitation("Open this to link your account", "https://example.com/link", { key: "link" });
  return text(`Linked: ${answer.action}`);
}

const tool = (name, description, schema, handler) =>
  server.tool({ name, description, schema, replayable: true }, handler);
tool("book_table", "Book a table", z.object({ restaurant: z.string() }), bookTable);
tool("link", "Link an account", z.object({}), link);

const transport = new HttpTransport(server);
const answer = async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 });
const listening = http.createServer(createRequestListener(answer)).listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${listening.address().port}`);
});
