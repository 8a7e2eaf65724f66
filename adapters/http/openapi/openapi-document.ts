import { swagger } from "@elysiajs/swagger";
import { CONTRACT_VERSION, SERVICE_NAME } from "./service-version.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { type JsonText, jsonText } from "../server/declared-answer.ts";
import { finishDocument, type OpenApiDocument } from "./finish-document.ts";
import { sharedComponents } from "./operation-object.ts";

const SPEC_PATH = "/openapi.json";

const DESCRIPTION = `Records what a merchant's attestor asserted about a delivery and what the ledger did with an agent's payment:
escrow custody on Solana, Ed25519 attestation, automatic refund, and evidence packets that anyone can verify offline.

Amounts are decimal strings in base units (\`*_stroops\`). Beside them \`*_usdc\` is a rendering with six decimals;
of escrows and events it is null unless this service lists the mint as USDC.
Times are RFC 3339 in UTC, addresses base58, hashes lower-case hex. Errors are RFC 9457 problem documents;
their \`type\` is a path of this service that explains the problem and its cure. No operation asks for a
credential: authority over an escrow is the signature inside a transaction.`;

const TAGS = [
  { name: "Escrows", description: "Prepare and read escrows." },
  {
    name: "Evidence",
    description: "Packets that show what became of a payment, and what to trust.",
  },
  { name: "Merchants", description: "Registered merchants and their attestor keys." },
  { name: "Proof templates", description: "Shapes of delivery payloads." },
  { name: "Settlement log", description: "The ledger's events in a Merkle tree (docs/log.md)." },
  { name: "Index", description: "The persistent index of escrows and events." },
  { name: "Relay", description: "Broadcast of transactions that are already signed." },
  { name: "Log", description: "The settlement log and its witnesses." },
  { name: "Service", description: "The service itself." },
];

/**
 * The plugin that collects the routes of its app, and the OpenAPI 3.1.0 document of those routes.
 * The app's own routes replace the plugin's two, because the plugin's page loads scripts from another host.
 */
export const openApiDocument = (operations: ReadonlyArray<Endpoint>) => {
  const plugin = swagger({
    path: "/docs",
    specPath: SPEC_PATH,
    excludeStaticFile: false,
    documentation: {
      info: {
        title: SERVICE_NAME,
        version: CONTRACT_VERSION,
        description: DESCRIPTION,
        license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
      },
      servers: [{ url: "/", description: "This service." }],
      tags: TAGS,
      externalDocs: { description: "The reference, as a page.", url: "/docs" },
      components: sharedComponents(operations),
    },
  });
  return {
    plugin,
    /** The document as JSON text. */
    text: async (): Promise<JsonText<OpenApiDocument>> => {
      const collected = await plugin.handle(new Request(`http://localhost${SPEC_PATH}`));
      const paths = operations.map(({ path }) => path);
      return jsonText(finishDocument(await collected.json(), paths));
    },
  };
};
