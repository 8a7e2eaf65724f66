// Calls one tool of SERVICE/mcp, as a model's host does, and asks the person on the terminal when the tool asks.
// mcp-call.ts TOOL ARGUMENTS, where ARGUMENTS is a JSON object. Prints the result as JSON.
import { createInterface } from "node:readline/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const { SERVICE = "" } = process.env;
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
const fail = (...said: ReadonlyArray<string>) => {
  console.error(said.join(" "));
  process.exitCode = 1;
};
const parsed = (json: string) => {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
};
const call = async (args: Record<string, unknown>) => {
  const result = await client.callTool({ name, arguments: args });
  const [said] = result.content as ReadonlyArray<{ text: string }>;
  if (result.isError) fail(said?.text ?? "");
  else console.log(JSON.stringify(result.structuredContent));
};

const args = parsed(text);
if (!URL.canParse(SERVICE))
  fail("SERVICE names no service. Set it to an address such as http://127.0.0.1:3000.");
else if (args?.constructor !== Object)
  fail(`ARGUMENTS is no JSON object. Give one in quotes, such as '{"escrow":"<address>"}'.`);
else
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", SERVICE))).then(
    // The tool's own refusals name their cure.
    () => call(args).catch(({ message }) => fail(message)),
    ({ message }) => fail(message, `Start the service, or correct SERVICE (${SERVICE}).`),
  );
await client.close();
