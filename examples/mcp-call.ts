// Calls one tool of SERVICE/mcp, as a model's host does, and asks the person on the terminal when the tool asks.
// mcp-call.ts TOOL ARGUMENTS, where ARGUMENTS is a JSON object. Prints the result as JSON.
import { createInterface } from "node:readline/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [name = "", text = "{}"] = process.argv.slice(2);
const versionNegotiation = { mode: "auto" } as const;
const capabilities = { elicitation: {} };
const client = new Client({ name: "terminal", version: "1" }, { capabilities, versionNegotiation });
client.setRequestHandler("elicitation/create", async ({ params }) => {
  console.error(`${params.message} [y/N]`);
  let answer = "";
  for await (answer of createInterface({ input: process.stdin })) break;
  const send = answer === "y";
  return send ? { action: "accept", content: { send } } : { action: "decline" };
});
try {
  await client.connect(new StreamableHTTPClientTransport(new URL(`${process.env.SERVICE}/mcp`)));
  const result = await client.callTool({ name, arguments: JSON.parse(text) });
  const [said] = result.content as ReadonlyArray<{ text: string }>;
  if (result.isError) console.error(said?.text);
  else console.log(JSON.stringify(result.structuredContent));
  process.exitCode = result.isError ? 1 : 0;
} catch ({ message }) {
  console.error(message, `See SERVICE (${process.env.SERVICE}), TOOL and ARGUMENTS.`);
  process.exitCode = 1;
}
await client.close();
