import { Effect } from "effect";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import type { LandedTransaction, Simulation } from "../../core/domain/relay/relay-entry.ts";
import { Broadcaster } from "../../ports/ledger/broadcaster.ts";
import type { Answer } from "./ledger-port.ts";

/** The fate of transactions at a test's nodes. */
export type BroadcasterParts = {
  /** Answers every call at once by default. */
  readonly answer?: Answer;
  readonly isBlockhashValid: (blockhash: string) => boolean;
  /** The lamports that a message costs, by default 5000. */
  readonly fee?: (message: Uint8Array) => bigint | null;
  readonly simulate: (transaction: Uint8Array) => Simulation;
  readonly submit: (transaction: Uint8Array) => void;
  /** What one node knows at one moment about landed transactions. */
  readonly landed: () => (signature: LedgerSignature) => LandedTransaction | null;
  /** The slot from which that node has the whole history, null when it does not say. */
  readonly historyStart: () => bigint | null;
  readonly logs: (signature: LedgerSignature) => ReadonlyArray<string>;
  /** The error of a transaction as history shows it; undefined: that of `landed`. */
  readonly error?: (signature: LedgerSignature) => LandedTransaction["error"] | undefined;
};

/** The Broadcaster port as a test describes it. */
export const broadcasterPort = (parts: BroadcasterParts): Broadcaster["Service"] => {
  const { answer = (value) => Effect.sync(value), fee = () => 5000n } = parts;
  const landedAll = (signatures: ReadonlyArray<LedgerSignature>) => signatures.map(parts.landed());
  return Broadcaster.of({
    isBlockhashValid: (blockhash) => answer(() => parts.isBlockhashValid(blockhash)),
    fee: (message) => answer(() => fee(message)),
    simulate: (transaction) => answer(() => parts.simulate(transaction)),
    submit: (transaction) => answer(() => parts.submit(transaction)),
    landed: (signature) => answer(() => parts.landed()(signature)),
    landedAll: (signatures) => answer(() => landedAll(signatures)),
    searchAll: (signatures) =>
      answer(() => ({ landed: landedAll(signatures), completeFrom: parts.historyStart() })),
    shown: (signature) =>
      answer(() => {
        const landed = parts.landed()(signature);
        if (landed === null) return null;
        const told = parts.error?.(signature);
        const error = told === undefined ? landed.error : told;
        return { slot: landed.slot, error, logs: parts.logs(signature), program: null };
      }),
  });
};
