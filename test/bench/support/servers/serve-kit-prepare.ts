import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Deferred, Effect, Layer, Redacted, Scope } from "effect";
import { Elysia } from "elysia";
import type { Static } from "@sinclair/typebox";
import { clientKey } from "../../../../adapters/http/server/client-address.ts";
import type { Endpoint } from "../../../../adapters/http/server/endpoint.ts";
import type { Connection } from "../../../../adapters/http/server/exchange.ts";
import { operationExchange } from "../../../../adapters/http/server/operation.ts";
import {
  preparedEscrowRecord,
  type PrepareEscrowRequest,
} from "../../../../adapters/http/escrow/prepared-escrow-contract.ts";
import { prepareEscrowEndpoint } from "../../../../adapters/http/escrow/prepare-escrow.ts";
import { readSettings } from "../../../../app/config/settings.ts";
import { type IndexRefused, serviceLayer } from "../../../../app/layers.ts";
import { logging } from "../../../../app/logging.ts";
import { address } from "../../../../core/domain/address.ts";
import { parseHash32 } from "../../../../core/domain/hash32.ts";
import { createEscrowInstruction } from "../../../../core/protocol/instructions/custody-instructions.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { environmentOn } from "../../../chaos/support/service-environment.ts";
import { kitAddresses } from "../kit-addresses.ts";

// Run as a process: the service's own prepare on the node at argv[2], with its schema, budgets and rendering, but with
// kit's derivation. Prints its address.
const rpcUrl = process.argv[2] ?? "";
const dataDir = mkdtempSync(join(tmpdir(), "settlement-bench-"));
const env = { ...environmentOn(rpcUrl, dataDir), RATE_LIMIT_PREPARE: "1000000" };

const context = await Effect.runPromise(
  Effect.gen(function* () {
    const settings = yield* readSettings(env);
    const refused = yield* Deferred.make<never, IndexRefused>();
    const rpcUrls = [Redacted.make(new URL(rpcUrl))] as const;
    const place = { settings, dataDir, rpcUrls, startedAtMs: Date.now() };
    return yield* serviceLayer(place, refused).pipe(
      Layer.provideMerge(logging(settings.logFormat, settings.logLevel)),
      Layer.buildWithScope(yield* Effect.scope),
    );
  }).pipe(Effect.provideServiceEffect(Scope.Scope, Scope.make())),
);

/** The terms of a request of the load, which names its task by a hash and has no value out of range. */
const termsOf = (body: Static<typeof PrepareEscrowRequest>) => {
  const taskHash = parseHash32(body.task_hash ?? "");
  if (taskHash === undefined) throw new Error("the load names each task by its hash");
  return {
    agentOwner: address(body.agent_owner),
    merchant: address(body.merchant),
    mint: address(body.mint),
    amount: BigInt(body.amount_stroops),
    ttlSeconds: body.ttl_seconds,
    taskHash,
    taskHashDerived: false,
    taskIntent: null,
    nonce: null,
    nonceApplied: false,
  };
};

const operation: Endpoint = {
  ...prepareEscrowEndpoint,
  handle: Effect.fnUntraced(function* ({ body }) {
    const terms = termsOf(body as Static<typeof PrepareEscrowRequest>);
    const addresses = yield* Effect.promise(() => kitAddresses(terms));
    const prepared = {
      ...terms,
      escrow: addresses.escrow.address,
      vaultTokenAccount: addresses.vaultTokenAccount,
      agentTokenAccount: addresses.agentTokenAccount,
      merchantAccount: addresses.merchantAccount.address,
      bumps: { escrow: addresses.escrow.bump, merchant: addresses.merchantAccount.bump },
      instruction: createEscrowInstruction(
        LOCAL_DEPLOYMENT,
        { ...terms, payer: terms.agentOwner },
        addresses,
      ),
    };
    return { json: { data: preparedEscrowRecord(prepared) } };
  }),
};
const connections = new WeakMap<Request, Connection>();
const exchange = operationExchange(
  {
    context,
    corsOrigins: ["*"],
    clientKey: clientKey(() => false),
    connectionOf: (request) => connections.get(request),
    originOf: () => "",
    isDraining: () => false,
  },
  operation,
);
const router = new Elysia({ strictPath: true, normalize: false }).route(
  operation.method,
  operation.path,
  ({ request, params }) => exchange(request, params),
  { parse: "none" },
);
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => {
    connections.set(request, { address: "127.0.0.1", allowSeconds: () => undefined });
    return router.fetch(request);
  },
});
process.stdout.write(`http://127.0.0.1:${server.port}\n`);
