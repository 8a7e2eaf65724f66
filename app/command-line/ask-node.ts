import { Cause, Effect, Exit, Layer, Logger, Redacted } from "effect";
import { ledgerSolanaRpc } from "../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../adapters/solana-rpc/pool/node-pool.ts";
import { redactedRpcAddress } from "../../adapters/solana-rpc/transport/redacted-rpc-address.ts";
import { solanaRpcConfig } from "../../adapters/solana-rpc/pool/solana-rpc-config.ts";
import type { LedgerWitness } from "../../core/protocol/verification/verify-on-ledger.ts";
import { witnessEvidence } from "../../core/use-cases/evidence/witness-evidence.ts";
import { EX_UNAVAILABLE, exitWith } from "./command-line.ts";

/**
 * What one node says about a packet, undefined for a packet that names no accounts. Ends the process when
 * the node gives no answer, because the packet is then undecided. Messages show only the address's
 * host, because the rest may be a key.
 */
export const askNode = async (packet: Uint8Array, url: URL): Promise<LedgerWitness | undefined> => {
  const ledger = ledgerSolanaRpc.pipe(
    Layer.provide(nodePool(solanaRpcConfig([Redacted.make(url)]))),
  );
  // The pool logs each attempt. The log is off, because standard output holds only the verdict.
  const quiet = Layer.merge(ledger, Logger.layer([]));
  const exit = await Effect.runPromiseExit(Effect.provide(witnessEvidence(packet), quiet));
  if (Exit.isSuccess(exit)) return exit.value;
  if (Cause.hasDies(exit.cause)) throw Cause.squash(exit.cause);
  return exitWith(
    EX_UNAVAILABLE,
    `the node at ${redactedRpcAddress(url)} gave no usable answer; the packet is undecided`,
  );
};
