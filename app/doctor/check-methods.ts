import { Effect, type Redacted, Result } from "effect";
import { solanaRpcConfig } from "../../adapters/solana-rpc/pool/pool-config.ts";
import { jsonRpcClient } from "../../adapters/solana-rpc/transport/json-rpc-client.ts";
import type { NodeFailure } from "../../adapters/solana-rpc/transport/rpc-failure.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { CUSTODY_ACCOUNTS } from "../../core/protocol/generated/custody.ts";
import { custodyConfigAddress } from "../../core/protocol/addresses/addresses.ts";
import { SYSTEM_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";
import { Problem } from "./finding.ts";

/** A JSON-RPC request of one node, tried once. */
export type AskNode = (
  method: string,
  params: ReadonlyArray<unknown>,
) => Effect.Effect<unknown, NodeFailure>;

/** Requests of the node at an address. */
export const askNodeAt = (url: Redacted.Redacted<URL>): AskNode => {
  const client = jsonRpcClient(url);
  const { single } = solanaRpcConfig([url]).pools;
  return (method, params) => client.ask(method, params, single);
};

/** A scan that lists one account, the custody config, at a node that applies filters. */
export const configScan = ({ custodyProgram }: Deployment): ReadonlyArray<unknown> => [
  custodyProgram,
  {
    encoding: "base64",
    commitment: "finalized",
    dataSlice: { offset: 0, length: 0 },
    filters: [
      { dataSize: CUSTODY_ACCOUNTS.CustodyConfig.length },
      {
        memcmp: {
          offset: 0,
          bytes: encodeBase64(Uint8Array.from(CUSTODY_ACCOUNTS.CustodyConfig.discriminator)),
          encoding: "base64",
        },
      },
    ],
  },
];

/** No transaction: a node that knows the method refuses its parameters. */
const NO_TRANSACTION = ["", { encoding: "base64" }];
/** A signature and a blockhash that no ledger has. */
const NO_SIGNATURE = "1".repeat(64);
const NO_BLOCKHASH = SYSTEM_PROGRAM;

/** The methods that the service calls, with parameters that change nothing; and what is lost without each. */
const methodsOf = (
  deployment: Deployment,
): ReadonlyArray<
  readonly [method: string, params: ReadonlyArray<unknown>, loss: string | null]
> => [
  ["getEpochInfo", [], null],
  ["getMultipleAccounts", [[SYSTEM_PROGRAM], { encoding: "base64" }], null],
  ["getLatestBlockhash", [], null],
  ["isBlockhashValid", [NO_BLOCKHASH], null],
  ["getRecentPrioritizationFees", [[]], null],
  ["getSignatureStatuses", [[NO_SIGNATURE]], null],
  ["simulateTransaction", NO_TRANSACTION, null],
  ["sendTransaction", NO_TRANSACTION, null],
  ["getProgramAccounts", configScan(deployment), null],
  [
    "getSignaturesForAddress",
    [custodyConfigAddress(deployment).address, { limit: 1, commitment: "finalized" }],
    "events without signatures, and a scan for each",
  ],
  ["getTransaction", [NO_SIGNATURE, { encoding: "json" }], "events without signatures"],
  ["getFirstAvailableBlock", [], "scans where a history would do"],
];

/** Whether a failure means that the node does not offer the method; null where it gave no answer. */
const isOffered = (failure: NodeFailure): boolean | null => {
  // What refuses the parameters, or lacks the state, knows the method.
  if (failure._tag === "RpcRefusal") return true;
  if (failure._tag === "NodeUnable") return failure.kind === "behind" || failure.code !== -32_601;
  return failure.kind === "unwell" || failure.kind === "oversize" ? true : null;
};

/** Calls each method that the service needs once. Fails with a `Problem` that names those that the node does not offer. */
export const checkMethods = Effect.fnUntraced(function* (ask: AskNode, deployment: Deployment) {
  const missing: Array<string> = [];
  const silent: Array<string> = [];
  const lost: Array<string> = [];
  const methods = methodsOf(deployment);
  for (const [method, params, loss] of methods) {
    const asked = yield* Effect.result(ask(method, params));
    const offered = Result.isSuccess(asked) ? true : isOffered(asked.failure);
    if (offered === true) continue;
    if (offered === null) silent.push(method);
    else if (loss === null) missing.push(method);
    else lost.push(`${method}: ${loss}`);
  }
  if (missing.length > 0)
    return yield* new Problem({
      message: `the node does not offer ${missing.join(", ")}; use another, or another plan`,
    });
  if (silent.length > 0)
    return yield* new Problem({
      message: `the node gives no answer to ${silent.join(", ")}; try again, or use another`,
      isUnavailable: true,
    });
  const called = `${methods.length} called once`;
  return lost.length === 0 ? called : `${called}; not offered: ${lost.join("; ")}`;
});
