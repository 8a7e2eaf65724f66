import { readFileSync } from "node:fs";

// Run as a process: answers every request with the text of the file argv[2]. The baseline of an HTTP server.
const text = readFileSync(process.argv[2] ?? "", "utf8");
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => new Response(text, { headers: { "content-type": "application/json" } }),
});
process.stdout.write(`http://127.0.0.1:${server.port}\n`);
