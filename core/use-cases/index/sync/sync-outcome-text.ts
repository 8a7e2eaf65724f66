import {
  type LedgerFault,
  LedgerTimeout,
  LedgerUnavailable,
} from "../../../../ports/ledger/ledger.ts";
import { SlotBeyondReach } from "../../../../ports/index/slot-beyond-reach.ts";
import { StoreUnavailable } from "../../../../ports/index/store-unavailable.ts";
import type { SyncOutcome } from "../../../../ports/index/sync-lease.ts";

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
  const { tag, retryable, timeoutMs, fault } = plain.failure;
  const told = { retryable, cause };
  // A process of an earlier version tells no fault.
  const known = fault === null || fault === undefined ? {} : { fault };
  switch (tag) {
    case "LedgerTimeout":
      return { failure: new LedgerTimeout({ timeoutMs, ...known }) };
    case "LedgerUnavailable":
      return { failure: new LedgerUnavailable({ ...told, ...known }) };
    case "StoreUnavailable":
      return { failure: new StoreUnavailable(told) };
  }
};
