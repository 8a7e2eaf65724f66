import { Effect } from "effect";
import { Broadcaster } from "../../../../ports/ledger/broadcaster.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import type { Address } from "../../../domain/address.ts";
import type { LedgerSignature } from "../../../domain/ledger/signature.ts";
import {
  type LandedTransaction,
  type ShownTransaction,
  statusOnly,
} from "../../../domain/relay/relay-entry.ts";
import { signOfEffect } from "../../../protocol/transaction/transaction-effects.ts";
import { ofTwoNodes } from "../../or-ask-another.ts";
import { RelayMemory } from "../relayed-effects.ts";

/** Where a transaction landed, with what was read of an error. */
export type HeldLanding = LandedTransaction & {
  /** The log lines of a failure, empty when the history does not have them. */
  readonly logs: ReadonlyArray<string>;
  /** The program of the failing instruction, null when it is not known. */
  readonly program: Address | null;
  /** How many nodes show the error; 0 without one. */
  readonly nodes: number;
};

/** What is shown of a transaction, null when no node shows it. */
export const shownOf = Effect.fnUntraced(
  function* (signature: LedgerSignature) {
    return yield* (yield* Broadcaster).shown(signature);
  },
  Effect.orElseSucceed((): ShownTransaction | null => null),
);

/**
 * Whether the accounts show all that a remembered transaction would have done. They contradict its error then, unless
 * another transaction did the same: that is told once it is final.
 */
const isDone = Effect.fnUntraced(
  function* (signature: LedgerSignature, slot: bigint) {
    const effects = (yield* RelayMemory)?.effectsOf(signature) ?? [];
    if (effects.length === 0) return false;
    const { deployment } = yield* Instance;
    const ledger = yield* Ledger;
    const subjects = effects.map(({ subject }) => subject);
    const { value } = yield* ledger.readAccounts(subjects, "confirmed", undefined, slot);
    const signs = new Set(
      effects.map((effect, i) => signOfEffect(effect, value[i] ?? null, deployment)),
    );
    return signs.has("shown") && !signs.has("absent");
  },
  Effect.orElseSucceed(() => true),
);

const denies = (shown: ShownTransaction | null): boolean => shown === null || shown.error !== null;

/**
 * A landing by a node's status, as far as it is believed. An error must also be in the transaction that the history
 * shows, of two nodes where two are configured: a false one would have the payment made twice. A transaction that one
 * shows without error has landed so. One node alone is not believed either where the accounts show what the transaction
 * would have done. Null when it is not known to have landed, and where no history shows it.
 */
export const heldLanding = Effect.fnUntraced(function* (
  signature: LedgerSignature,
  status: LandedTransaction | null,
) {
  if (status === null) return null;
  const landed: HeldLanding = { ...statusOnly(status), logs: [], program: null, nodes: 0 };
  if (status.error === null || status.commitment === "processed") return landed;
  const { value: shown, nodes } = yield* ofTwoNodes(shownOf(signature), denies);
  if (shown === null) return null;
  const { slot, error, logs, program } = shown;
  if (error !== null && nodes === 1 && (yield* isDone(signature, slot))) return null;
  const held: HeldLanding =
    error === null
      ? { ...landed, slot, error, commitment: "confirmed" }
      : { ...landed, slot, error, logs, program, nodes };
  return held;
});
