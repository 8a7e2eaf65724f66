import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import { CONTRACT_VERSION, SERVICE_NAME } from "./contract.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { routerPath } from "../server/router-path.ts";
import { finishDocument } from "./finish-document.ts";
import { operationObject, sharedComponents } from "./operation-object.ts";

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
  { name: "Index", description: "The persistent index of escrows and events." },
  { name: "Relay", description: "Broadcast of transactions that are already signed." },
  { name: "Service", description: "The service itself." },
];

/**
 * The OpenAPI 3.1.0 document of these operations as JSON text. The plugin collects them from an app of
 * their routes, which exists for this alone: its own reference page, which loads scripts from elsewhere,
 * is never served.
 */
export const openApiDocument = async (operations: ReadonlyArray<Endpoint>): Promise<string> => {
  const collector = new Elysia();
  for (const operation of operations)
    collector.route(operation.method, routerPath(operation.path), () => null, {
      detail: operationObject(operation),
    });
  collector.use(
    swagger({
      path: "/collector",
      specPath: `/collector${SPEC_PATH}`,
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
        components: sharedComponents(operations),
      },
    }),
  );
  const collected = await collector.handle(new Request(`http://localhost/collector${SPEC_PATH}`));
  return JSON.stringify(finishDocument(await collected.json()));
};
