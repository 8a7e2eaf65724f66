import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Deferred, Effect, Layer, Redacted, Scope } from "effect";
import type { Static } from "@sinclair/typebox";
import { createHttpApp } from "../../../../adapters/http/server/http-app.ts";
import { serveHttp } from "../../../../adapters/http/server/serve-http.ts";
import {
  preparedEscrowRecord,
  type PrepareEscrowRequest,
} from "../../../../adapters/http/escrow/prepare/prepared-escrow-contract.ts";
import { prepareEscrowEndpoint } from "../../../../adapters/http/escrow/prepare/prepare-escrow.ts";
import { readSettings } from "../../../../app/config/settings.ts";
import type { IndexRefused } from "../../../../app/stores/index-refused.ts";
import { serviceLayer } from "../../../../app/layers.ts";
import { logging } from "../../../../app/lifecycle/logging.ts";
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
    const [webSocketUrl] = rpcUrls;
    const place = { settings, dataDir, rpcUrls, webSocketUrl, startedAtMs: Date.now() };
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
    expiresAt: null,
    sessionKey: null,
    taskHash,
    taskHashDerived: false,
    taskIntent: null,
    taskIntentMatches: null,
    nonce: null,
    nonceApplied: false,
  };
};

Object.assign(prepareEscrowEndpoint, {
  handle: Effect.fnUntraced(function* ({ body }: { body: Static<typeof PrepareEscrowRequest> }) {
    const terms = termsOf(body);
    const addresses = yield* Effect.promise(() => kitAddresses(terms));
    const prepared = {
      ...terms,
      attestor: null,
      payer: null,
      escrow: addresses.escrow.address,
      vaultTokenAccount: addresses.vaultTokenAccount,
      agentTokenAccount: addresses.agentTokenAccount,
      merchantAccount: addresses.merchantAccount.address,
      bumps: { escrow: addresses.escrow.bump, merchant: addresses.merchantAccount.bump },
      instruction: createEscrowInstruction(
        LOCAL_DEPLOYMENT,
        { ...terms, expiresAt: undefined, payer: terms.agentOwner },
        addresses,
      ),
    };
    return { json: { data: preparedEscrowRecord(prepared, null) } };
  }),
});
const server = await Effect.runPromise(
  serveHttp(createHttpApp({ context }), { hostname: "127.0.0.1", port: 0 }).pipe(
    Effect.provideServiceEffect(Scope.Scope, Scope.make()),
  ),
);
process.stdout.write(`${server.url}\n`);
