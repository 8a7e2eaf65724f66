import { readFileSync } from "node:fs";

// Run as a process: answers everything with the text of the file argv[2], as little as an HTTP server can do.
const text = readFileSync(process.argv[2] ?? "", "utf8");
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => new Response(text, { headers: { "content-type": "application/json" } }),
});
process.stdout.write(`http://127.0.0.1:${server.port}\n`);
