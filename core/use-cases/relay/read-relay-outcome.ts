import { Effect } from "effect";
import { Instance } from "../../../ports/instance.ts";
import { Broadcaster } from "../../../ports/ledger/broadcaster.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { OutcomeLog } from "../../../ports/outcome-log.ts";
import type { Address } from "../../domain/address.ts";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import type {
  LandedTransaction,
  RelayEntry,
  TransactionError,
} from "../../domain/relay/relay-entry.ts";
import { type ProgramError, programErrorOf } from "../../protocol/instructions/program-errors.ts";
import {
  escrowsOf,
  namedCalls,
  onlyCreates,
} from "../../protocol/transaction/transaction-effects.ts";
import {
  decodeWireTransaction,
  type WireTransaction,
} from "../../protocol/transaction/wire-transaction.ts";
import { ofTwoNodes } from "../or-ask-another.ts";
import { heldLanding, type HeldLanding, shownOf } from "./outcome/held-landing.ts";
import { RelayDelivery } from "./relay-delivery.ts";
import { RelayMemory } from "./relayed-effects.ts";
import { TransactionNotFound } from "./relay-errors.ts";

/** What is known of a signature. `entry` is null when this relay has not taken the transaction on. */
export type RelayLookup =
  | { readonly status: "unknown" }
  | { readonly status: "pending"; readonly entry: RelayEntry | null; readonly slot: bigint | null }
  | {
      readonly status: "landed";
      readonly entry: RelayEntry | null;
      readonly landed: HeldLanding;
    }
  | {
      readonly status: "expired";
      readonly entry: RelayEntry;
      readonly supersededBy: LedgerSignature | null;
      /** How many nodes had no such transaction, null when that was not recorded. */
      readonly nodes: number | null;
    };

const fromLedger = Effect.fnUntraced(function* (
  signature: LedgerSignature,
  status: LandedTransaction | null,
  entry: RelayEntry | null,
) {
  (yield* RelayMemory)?.landed(signature, status);
  const pending: RelayLookup = { status: "pending", entry, slot: null };
  if (status === null) return entry === null ? ({ status: "unknown" } as const) : pending;
  // A processed block can still be dropped.
  if (status.commitment === "processed") return { ...pending, slot: status.slot };
  const landed = yield* heldLanding(signature, status);
  return landed === null ? pending : ({ status: "landed", entry, landed } as const);
});

const asLookup = (lookup: RelayLookup): RelayLookup => lookup;

/**
 * What the relay's log knows of a signature, and the ledger where the log has no outcome. An entry without an outcome
 * is followed from here on if the queue has room, whichever replica took it on. When the ledger does not answer, such
 * an entry counts as pending, and the look-up of any other signature fails. An error at `finalized` is the log's. With
 * `logOnly` the ledger is not asked for a signature that the log does not have.
 */
export const lookUpRelay = Effect.fn("lookUpRelay")(function* (
  signature: LedgerSignature,
  logOnly = false,
) {
  const log = yield* OutcomeLog;
  const broadcaster = yield* Broadcaster;
  const delivery = yield* RelayDelivery;
  const entry = yield* log.find(signature);
  if (entry === null)
    return asLookup(
      logOnly
        ? { status: "unknown" }
        : yield* fromLedger(signature, yield* broadcaster.landed(signature), null),
    );
  const { outcome } = entry;
  if (outcome === null) {
    yield* delivery.follow(entry);
    const landed = yield* broadcaster.landed(signature).pipe(Effect.orElseSucceed(() => null));
    return asLookup(yield* fromLedger(signature, landed, entry));
  }
  if (outcome.status === "expired") {
    const { supersededBy, nodes = null } = outcome;
    return asLookup({ status: "expired", entry, supersededBy, nodes });
  }
  const { slot, error, nodes = 0 } = outcome;
  const logs = error === null ? [] : ((yield* shownOf(signature))?.logs ?? []);
  const landed: HeldLanding = { slot, error, commitment: "finalized", logs, program: null, nodes };
  return asLookup({ status: "landed", entry, landed });
});

/** What is known of a transaction, and whether the payment may be signed again. */
export type RelayOutcome = {
  readonly signature: LedgerSignature;
  /** `landed`, with or without an error; `expired`, when it never landed and never can; otherwise `pending`. */
  readonly status: "landed" | "pending" | "expired";
  readonly commitment: "processed" | "confirmed" | "finalized" | null;
  readonly slot: bigint | null;
  /** Why it failed after landing; null when it succeeded or has not landed. */
  readonly error: TransactionError | null;
  /** The program of the failing instruction, null when this relay does not have the transaction. */
  readonly program: Address | null;
  /** What that program's error number means, null when it is of neither of the two programs. */
  readonly programError: ProgramError | null;
  readonly logs: ReadonlyArray<string>;
  /** The last block height at which it can land, null when this relay did not accept it. */
  readonly lastValidBlockHeight: bigint | null;
  /**
   * Whether it is safe to sign the payment again without paying twice: the transaction expired, or its failure is
   * final.
   */
  readonly safeToSignAgain: boolean;
  /** The transaction that did instead what this expired one would have done; null when nothing did. */
  readonly supersededBy: LedgerSignature | null;
  /** How many nodes say that it failed or expired; null when neither, and when that was not recorded. */
  readonly nodes: number | null;
  /** The one escrow that the transaction creates, null of any other. Its creation can be signed again at any time. */
  readonly recreatableEscrow: Address | null;
  /** The escrows that its instructions create or change; empty where nobody shows the instructions. */
  readonly escrows: ReadonlyArray<Address>;
};

/** The transaction that this relay took on, null where it has none. */
const sentIn = (entry: RelayEntry | null): WireTransaction | null => {
  const decoded = entry === null ? null : decodeWireTransaction(entry.transaction);
  return decoded !== null && "value" in decoded ? decoded.value : null;
};

const programOf = (sent: WireTransaction | null, error: TransactionError | null): Address | null =>
  sent?.instructions[error?.instructionIndex ?? -1]?.program ?? null;

/** What a transaction asks of the programs: as this relay sent it, else as the ledger's history shows it. */
const callsOf = Effect.fnUntraced(
  function* (signature: LedgerSignature, { status }: RelayLookup, sent: WireTransaction | null) {
    if (sent !== null) return namedCalls(sent);
    if (status !== "landed") return [];
    return (yield* (yield* Ledger).transaction(signature))?.instructions ?? [];
  },
  Effect.orElseSucceed(() => []),
);

/**
 * The outcome of any transaction, relayed here or not. Fails with `TransactionNotFound` when neither the relay nor the
 * ledger's history knows it; it may still land. See docs/relay.md.
 */
export const readRelayOutcome = Effect.fn("readRelayOutcome")(function* (
  signature: LedgerSignature,
) {
  const { value: lookup, nodes } = yield* ofTwoNodes(
    lookUpRelay(signature),
    ({ status }) => status === "unknown",
  );
  if (lookup.status === "unknown") return yield* new TransactionNotFound({ signature, nodes });
  const { deployment } = yield* Instance;
  const sent = sentIn(lookup.entry);
  const open: RelayOutcome = {
    signature,
    status: "pending",
    commitment: null,
    slot: null,
    error: null,
    program: null,
    programError: null,
    logs: [],
    lastValidBlockHeight: lookup.entry?.lastValidBlockHeight ?? null,
    safeToSignAgain: false,
    supersededBy: null,
    nodes: null,
    recreatableEscrow: sent === null ? null : onlyCreates(sent, deployment),
    escrows: escrowsOf(yield* callsOf(signature, lookup, sent), deployment),
  };
  switch (lookup.status) {
    case "pending": {
      const { slot } = lookup;
      return slot === null ? open : { ...open, slot, commitment: "processed" as const };
    }
    case "expired":
      return {
        ...open,
        status: "expired" as const,
        safeToSignAgain: true,
        supersededBy: lookup.supersededBy,
        nodes: lookup.nodes,
      };
    case "landed": {
      const { commitment, slot, error, logs, nodes: held } = lookup.landed;
      const program = programOf(sent, error) ?? lookup.landed.program;
      const outcome: RelayOutcome = {
        ...open,
        status: "landed",
        commitment,
        slot,
        error,
        program,
        programError: programErrorOf(error, program, deployment),
        logs,
        nodes: error === null || held === 0 ? null : held,
        safeToSignAgain: error !== null && commitment === "finalized",
      };
      return outcome;
    }
  }
});
