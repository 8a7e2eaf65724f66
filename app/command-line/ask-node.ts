import { Cause, Effect, Exit, Layer, Logger, Redacted } from "effect";
import { ledgerSolanaRpc } from "../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../adapters/solana-rpc/pool/node-pool.ts";
import { redactedRpcAddress } from "../../adapters/solana-rpc/transport/redacted-rpc-address.ts";
import { solanaRpcConfig } from "../../adapters/solana-rpc/pool/solana-rpc-config.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import type { LedgerWitness } from "../../core/protocol/verification/verify-on-ledger.ts";
import { witnessEvidence } from "../../core/use-cases/evidence/witness-evidence.ts";
import type { LedgerFailure } from "../../ports/ledger/ledger.ts";
import { EX_UNAVAILABLE, exitWith } from "./command-line.ts";

/** Why a node's answer was refused, null when it gave none. */
const refusalIn = (cause: Cause.Cause<LedgerFailure>): string | null => {
  const error = cause.reasons.find(Cause.isFailReason)?.error;
  if (error?._tag !== "LedgerUnavailable" || error.fault !== undefined) return null;
  return typeof error.cause === "string" ? error.cause : null;
};

/**
 * What a node says about a packet, undefined for a packet that names no accounts. The next of several nodes is asked when one
 * does not answer, or contradicts itself or the log's witnesses. Ends the process when none gives an answer that decides, because
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
  const exit = await Effect.runPromiseExit(Effect.provide(witnessEvidence(packet, trust), quiet));
  if (Exit.isSuccess(exit)) return exit.value;
  if (Cause.hasDies(exit.cause)) throw Cause.squash(exit.cause);
  const nodes = urls.map(redactedRpcAddress).join(", ");
  const refusal = refusalIn(exit.cause);
  return exitWith(
    EX_UNAVAILABLE,
    refusal === null
      ? `the node at ${nodes} gave no usable answer; the packet is undecided`
      : `the answer of the node at ${nodes} decides nothing: ${refusal}; the packet is undecided. Ask another node`,
  );
};
