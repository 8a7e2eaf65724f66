import { Exit, Option } from "effect";
import { SlotBeyondReach } from "../../../../ports/index/index-news.ts";
import {
  type StoreFault,
  storeFaultText,
  StoreUnavailable,
} from "../../../../ports/index/store-refusal.ts";
import type { SyncOutcome } from "../../../../ports/index/sync-lease.ts";
import {
  type LedgerFailure,
  type LedgerFault,
  ledgerFaultText,
  LedgerTimeout,
  LedgerUnavailable,
} from "../../../../ports/ledger/ledger.ts";
import type { RejectedAccount } from "../../../domain/index/sync-report.ts";
import { untrustworthy } from "../../or-ask-another.ts";

/** How a sync fails. */
export type SyncFailure = LedgerFailure | SlotBeyondReach | StoreUnavailable;

/** What can end work on the index: the tag of each failure, and a defect. */
export const SYNC_ERRORS = [
  "LedgerUnavailable",
  "LedgerTimeout",
  "SlotBeyondReach",
  "StoreUnavailable",
  "InternalError",
] as const satisfies ReadonlyArray<SyncFailure["_tag"] | "InternalError">;

/** What ended work on the index. */
export type SyncError = (typeof SYNC_ERRORS)[number];

/** A failure by its own name: a node's fault about a slot that no ledger can have reached is `SlotBeyondReach`. */
export const namedFailure = <E extends SyncFailure>(failure: E): E | SlotBeyondReach =>
  failure._tag === "LedgerUnavailable" && failure.fault?.kind === "slot_beyond_reach"
    ? new SlotBeyondReach({
        side: "ahead",
        method: failure.fault.method,
        detail:
          "the ledger cannot have come to the slot of the answer since the first slot that a node showed",
      })
    : failure;

/** What ended the work; null when it completed or was interrupted. */
export const syncErrorOf = (exit: Exit.Exit<unknown, SyncFailure>): SyncError | null => {
  const failure = Exit.findErrorOption(exit);
  if (failure._tag === "Some") return namedFailure(failure.value)._tag;
  return Exit.hasDies(exit) ? "InternalError" : null;
};

/** What the store has said that ended the work; nothing where something else did, or it said nothing. */
export const storeFaultOf = (
  exit: Exit.Exit<unknown, SyncFailure>,
): { readonly storeFault?: StoreFault } => {
  const failure = Option.getOrNull(Exit.findErrorOption(exit));
  const fault = failure?._tag === "StoreUnavailable" ? failure.fault : undefined;
  return fault === undefined ? {} : { storeFault: fault };
};

/** A failure's cause as text for the log. The adapters keep addresses that hold keys out of it. */
export const syncFailureCause = (failure: SyncFailure): string => {
  if (failure._tag === "SlotBeyondReach") return failure.message;
  if (failure._tag === "StoreUnavailable") return storeFaultText(failure);
  if (failure.fault !== undefined) return ledgerFaultText(failure.fault);
  if (failure._tag === "LedgerTimeout") return `no answer within ${failure.timeoutMs} ms`;
  const { cause } = failure;
  if (cause instanceof Error) return cause.message;
  return typeof cause === "string" ? cause : "not known";
};

/** JSON has no bigint: one stands as an object with this single member. */
const BIGINT = "$bigint";

const replacer = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? { [BIGINT]: value.toString() } : value;

const reviver = (_key: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && BIGINT in value
    ? BigInt(String(value[BIGINT]))
    : value;

/** A refused slot as it is, which names no node. */
type PlainSlot = Pick<SlotBeyondReach, "side" | "method" | "detail"> & {
  readonly tag: "SlotBeyondReach";
};

/** A failure without its cause, which can name what the operators of other replicas need not know. */
type PlainFailure = {
  readonly tag: "LedgerUnavailable" | "LedgerTimeout" | "StoreUnavailable";
  readonly retryable: boolean;
  readonly timeoutMs: number;
  /** Names hosts only, never keys. */
  readonly fault?: LedgerFault | null;
  readonly storeFault?: StoreFault | null;
};

/** A sync's outcome as text, for another process or thread. */
export const encodeOutcome = (outcome: SyncOutcome): string => {
  if ("report" in outcome) return JSON.stringify(outcome, replacer);
  const { failure } = outcome;
  if (failure._tag === "SlotBeyondReach") {
    const { _tag: tag, side, method, detail } = failure;
    return JSON.stringify({ failure: { tag, side, method, detail } satisfies PlainSlot });
  }
  const plain: PlainFailure = {
    tag: failure._tag,
    retryable: failure._tag === "LedgerTimeout" || failure.retryable,
    timeoutMs: failure._tag === "LedgerTimeout" ? failure.timeoutMs : 0,
    fault: failure._tag === "StoreUnavailable" ? null : (failure.fault ?? null),
    storeFault: failure._tag === "StoreUnavailable" ? (failure.fault ?? null) : null,
  };
  return JSON.stringify({ failure: plain });
};

/** The outcome that `encodeOutcome` wrote. A failure has `cause`, which says who told of it. */
export const decodeOutcome = (text: string, cause: string): SyncOutcome => {
  const plain = JSON.parse(text, reviver) as
    | Extract<SyncOutcome, { report: unknown }>
    | { readonly failure: PlainFailure | PlainSlot };
  if ("report" in plain) return plain;
  if (plain.failure.tag === "SlotBeyondReach") {
    const { side, method, detail } = plain.failure;
    return { failure: new SlotBeyondReach({ side, method, detail }) };
  }
  const { tag, retryable, timeoutMs, fault, storeFault } = plain.failure;
  const told = { retryable, cause };
  // A process of an earlier version tells no fault.
  const known = fault === null || fault === undefined ? {} : { fault };
  switch (tag) {
    case "LedgerTimeout":
      return { failure: new LedgerTimeout({ timeoutMs, ...known }) };
    case "LedgerUnavailable":
      return { failure: new LedgerUnavailable({ ...told, ...known }) };
    case "StoreUnavailable":
      return { failure: new StoreUnavailable({ ...told, fault: storeFault ?? undefined }) };
  }
};

/** The most accounts that a failure names. */
const MAX_NAMED = 3;

/**
 * The failure of a sync that did not find every event. `first` are the first missing numbers. It names some of the
 * escrows that could not be read, which may be those of the missing events.
 */
export const eventsMissing = (
  count: bigint,
  first: ReadonlyArray<bigint>,
  rejected: ReadonlyArray<RejectedAccount> = [],
) => {
  const named = rejected.slice(0, MAX_NAMED).map(({ address, fault }) => `${address} (${fault})`);
  const unreadable =
    named.length === 0 ? "" : `; accounts that cannot be read: ${named.join(", ")}`;
  return untrustworthy(
    `${count} of the custody program's events are missing, the first of them ${first.join(", ")}${unreadable}`,
  );
};

/** The failure for accounts whose leaves contradict the ledger's root, in a number or above one and up to another. */
export const eventsContradict = (where: bigint | { readonly from: bigint; readonly to: bigint }) =>
  untrustworthy(
    typeof where === "bigint"
      ? `the account of event ${where} contradicts another answer about it`
      : `the events ${where.from + 1n} to ${where.to} do not give the root that the custody program has`,
  );
