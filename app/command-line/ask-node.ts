import { Cause, Effect, Exit, Layer, Logger, Redacted } from "effect";
import { ledgerSolanaRpc } from "../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../adapters/solana-rpc/pool/node-pool.ts";
import { solanaRpcConfig } from "../../adapters/solana-rpc/pool/pool-config.ts";
import { redactedRpcAddress } from "../../adapters/solana-rpc/transport/rpc-failure.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import type { LedgerWitness } from "../../core/protocol/verification/verify-on-ledger.ts";
import { witnessEvidence } from "../../core/use-cases/evidence/stored-packet.ts";
import type { LedgerFailure } from "../../ports/ledger/ledger.ts";
import { EX_UNAVAILABLE, EX_USAGE, endWith } from "./command-line.ts";

/**
 * A node's address; ends the command when the text is not one. The message does not repeat the text, because it can
 * hold a key.
 */
export const nodeAddress = (rpc: string): URL => {
  const url = URL.parse(rpc);
  return url !== null && ["http:", "https:"].includes(url.protocol)
    ? url
    : endWith(EX_USAGE, "--rpc: expected the http:// or https:// address of a node");
};

/** Why a node's answer was refused, null when it gave none. */
const refusalIn = (cause: Cause.Cause<LedgerFailure>): string | null => {
  const error = cause.reasons.find(Cause.isFailReason)?.error;
  if (error?._tag !== "LedgerUnavailable" || error.fault !== undefined) return null;
  return typeof error.cause === "string" ? error.cause : null;
};

const UNDECIDED = "the packet is undecided. Check the address, or name another node with --rpc";

/** Why the packet is undecided, and what to do. `refusal` is of the answer that came last; null when none came. */
const undecidedText = (nodes: ReadonlyArray<string>, refusal: string | null): string => {
  const named = `${nodes.length === 1 ? "the node" : "the nodes"} at ${nodes.join(", ")}`;
  if (refusal === null) return `${named} gave no usable answer; ${UNDECIDED}`;
  return nodes.length === 1
    ? `the answer of ${named} decides nothing: ${refusal}; ${UNDECIDED}`
    : `${named} gave no answer that decides, the last one because ${refusal}; ${UNDECIDED}`;
};

/**
 * What a node says about a packet, undefined for a packet that names no accounts. While a node gives no answer that
 * decides, the next one is asked (docs/verify-evidence.md, "With a node"). Ends the command when none is left, because
 * the packet is then undecided. Messages show only the addresses' hosts, because the rest may be a key.
 */
export const askNode = async (
  packet: Uint8Array,
  trust: TrustPolicy | null,
  urls: readonly [URL, ...ReadonlyArray<URL>],
): Promise<LedgerWitness | undefined> => {
  const [first, ...others] = urls;
  const ledger = ledgerSolanaRpc.pipe(
    Layer.provide(
      nodePool(solanaRpcConfig([Redacted.make(first), ...others.map((url) => Redacted.make(url))])),
    ),
  );
  // The pool logs each attempt. The log is off, because standard output holds only the verdict.
  const quiet = Layer.merge(ledger, Logger.layer([]));
  const exit = await Effect.runPromiseExit(
    Effect.provide(witnessEvidence(packet, trust, others.length), quiet),
  );
  if (Exit.isSuccess(exit)) return exit.value;
  if (Cause.hasDies(exit.cause)) throw Cause.squash(exit.cause);
  const nodes = urls.map(redactedRpcAddress);
  return endWith(EX_UNAVAILABLE, undecidedText(nodes, refusalIn(exit.cause)));
};
