import { concatBytes } from "@noble/hashes/utils.js";
import { open } from "node:fs/promises";
import { type Address, addressFromBytes, addressToBytes } from "../../core/domain/address.ts";
import { hash32ToBytes } from "../../core/domain/hash32.ts";
import { callVoucherBytes } from "../../core/protocol/calls/call-voucher.ts";
import {
  parseSessionHead,
  type SessionHead,
  sessionHeadBytes,
  tallyOf,
} from "../../core/protocol/calls/session-head.ts";
import { NO_CALLS, type SessionTally } from "../../core/protocol/calls/session-tally.ts";
import {
  adopting,
  type AgentState,
  NOTHING_CALLED,
  type SessionJournal,
  type SessionOpening,
  type StoppedSession,
} from "../sessions/agent/session-journal.ts";
import {
  callAfter,
  type OrderPart,
  orderPartBytes,
  orderPartOf,
  readOrderPart,
  readReceiptPart,
  receiptPartBytes,
  receiptPartOf,
  type ReceiptPart,
  requireFollows,
  tallyAfter,
  voucherAfter,
} from "../sessions/store/call-record.ts";
import { readVoucher } from "../sessions/store/kept-bytes.ts";
import { PackedReader } from "../sessions/store/packed-bytes.ts";
import type { KeptCall } from "../sessions/store/session-store.ts";
import { AppendLog, damaged } from "./append-log.ts";
import { useExclusively } from "./exclusive-use.ts";
import { formOf, framesIn } from "./frames.ts";
import type { Frame } from "../sessions/store/session-frames.ts";
import { useNativeCrypto } from "./native-crypto.ts";

const MAGIC = "seagent2";
/** What a frame says. The numbers stand in files, and are never given to anything else. */
const OPENED = 1;
const ESCROW = 2;
const ORDERED = 3;
const ANSWERED = 4;
const ADOPTED = 5;
const CLOSING = 6;
const STOPPED = 7;

/** How much of each root stands behind an answered call. */
const CHECK_BYTES = 8;

const utf8 = new TextEncoder();
const jsonOf = (bytes: Uint8Array): unknown =>
  JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));

/** The beginnings of both roots after a call, by which a change of any call before it is noticed. */
const checkOf = ({ voucher, receipt }: Pick<KeptCall, "voucher" | "receipt">): Uint8Array =>
  concatBytes(
    hash32ToBytes(voucher.orders).subarray(0, CHECK_BYTES),
    hash32ToBytes(receipt.attestation.deliveries).subarray(0, CHECK_BYTES),
  );

type Answered = {
  readonly before: SessionTally;
  readonly parts: readonly [order: OrderPart, receipt: ReceiptPart];
  readonly check: Uint8Array;
};

/** Reads the frames of an agent's session one after another. */
class AgentReplay {
  #state = NOTHING_CALLED;
  #escrow: Address | null = null;
  #tally: SessionTally = NO_CALLS;
  #ordered: OrderPart | null = null;
  /** The newest call, of which only the parts are known yet. */
  #last: Answered | null = null;

  /** Takes a frame; the call of an answer from the number `wanted` on. @throws RangeError or SyntaxError */
  take({ kind, payload }: Frame, wanted = Number.POSITIVE_INFINITY): KeptCall | null {
    switch (kind) {
      case OPENED:
        this.#state = { ...this.#state, opening: jsonOf(payload) as SessionOpening };
        return null;
      case ESCROW:
        this.#escrow = addressFromBytes(payload);
        return null;
      case ORDERED: {
        const reader = new PackedReader(payload);
        this.#ordered = readOrderPart(reader);
        reader.done();
        return null;
      }
      case ANSWERED:
        return this.#answered(payload, wanted);
      case ADOPTED: {
        this.#prove();
        const head = parseSessionHead(payload);
        if (head === undefined) throw new RangeError("no record of a call");
        this.#tally = tallyOf(head);
        this.#ordered = null;
        this.#state = { ...this.#state, ...adopting(this.#state, head) };
        return null;
      }
      case CLOSING:
        this.#ordered = null;
        this.#state = { ...this.#state, closing: readVoucher(payload) };
        return null;
      case STOPPED:
        this.#state = { ...this.#state, stopped: jsonOf(payload) as StoppedSession };
        return null;
      default:
        throw new RangeError(`a frame of kind ${kind}`);
    }
  }

  /** Where the session stands, its newest call proved. @throws RangeError */
  state(): AgentState {
    this.#prove();
    const ordered = this.#ordered;
    if (ordered === null) return { ...this.#state, pending: null };
    const { intent } = ordered;
    const pending = { ...voucherAfter(this.#tally, this.#escrowOf(), ordered), intent };
    return { ...this.#state, pending };
  }

  /** The escrow of the session's calls, null before the first. */
  get escrow(): Address | null {
    return this.#escrow;
  }

  #escrowOf(): Address {
    if (this.#escrow === null) throw new RangeError("no escrow is named");
    return this.#escrow;
  }

  #answered(payload: Uint8Array, wanted: number): KeptCall | null {
    if (this.#ordered === null) throw new RangeError("an answer to nothing that was ordered");
    const reader = new PackedReader(payload);
    const parts = [this.#ordered, readReceiptPart(reader)] as const;
    const check = reader.take(2 * CHECK_BYTES);
    reader.done();
    const before = this.#tally;
    this.#ordered = null;
    this.#last = { before, parts, check };
    if (before.count + 1 < wanted) {
      this.#tally = tallyAfter(before, ...parts);
      return null;
    }
    const { call, after } = callAfter(before, this.#escrowOf(), ...parts);
    this.#tally = after;
    return call;
  }

  #prove(): void {
    if (this.#last === null) return;
    const { before, parts, check } = this.#last;
    const { voucher, receipt } = callAfter(before, this.#escrowOf(), ...parts).call;
    if (checkOf({ voucher, receipt }).some((byte, at) => byte !== check[at]))
      throw new RangeError(`call ${voucher.count} or one before it is another than was kept`);
    const head: SessionHead = { voucher, receipt, before };
    this.#state = { ...this.#state, head };
    this.#last = null;
  }
}

const reading = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof RangeError || cause instanceof SyntaxError)
      throw damaged(path, cause.message, cause);
    throw cause;
  }
};

/**
 * An agent's session in a file that only its owner can read, the session key's seed in it. It belongs to one process,
 * whose hold on it ends with the process. What a crash cut off is gone; what was synced is there. Calls are about 300
 * bytes each. @throws SettlementError `store_in_use`, `store_damaged`, `store_unusable`
 * @example
 * import { fileSession } from "settlement-evidence/node";
 *
 * const journal = await fileSession(`${folder}/session`);
 * (await journal.state()).opening; // => null
 * await journal.release();
 */
export const fileSession = async (path: string): Promise<SessionJournal> => {
  // A session verifies a signature for each call.
  useNativeCrypto();
  const release = await useExclusively(`${path}.lock`);
  try {
    const replay = new AgentReplay();
    const log =
      (await reading(path, () =>
        AppendLog.open(path, MAGIC, (frame) => void replay.take(frame)),
      )) ?? (await AppendLog.create(path, MAGIC, []));
    const state = await reading(path, async () => replay.state());
    return journalOver({ path, log, state, escrow: replay.escrow, release });
  } catch (cause) {
    release();
    throw cause;
  }
};

type OpenedJournal = {
  readonly path: string;
  readonly log: AppendLog;
  readonly state: AgentState;
  readonly escrow: Address | null;
  readonly release: () => void;
};

const sameBytes = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at]);

const journalOver = (opened: OpenedJournal): SessionJournal => {
  const { path, log, release } = opened;
  let { state, escrow } = opened;
  const set = (changes: Partial<AgentState>) => (): void => {
    state = { ...state, ...changes };
  };
  const keep = (kind: number, payload: Uint8Array, changes: Partial<AgentState>): Promise<void> =>
    log.append({ kind, payload }, true, set(changes));
  const order: SessionJournal["order"] = async (pending) => {
    const { voucher, intent } = pending;
    if (escrow === null) {
      ({ escrow } = voucher);
      // Written before the order, whoever waits for it.
      void log.append({ kind: ESCROW, payload: addressToBytes(escrow) }, false).catch(() => {
        escrow = null;
      });
    }
    const payload = orderPartBytes(orderPartOf(voucher, intent));
    await log.append({ kind: ORDERED, payload }, false, set({ pending }));
  };
  return {
    state: () => Promise.resolve(state),
    open: (opening) => keep(OPENED, utf8.encode(JSON.stringify(opening)), { opening }),
    order,
    record: async (call) => {
      const { voucher, receipt, intent } = call;
      const before = state.head === null ? NO_CALLS : tallyOf(state.head);
      requireFollows(before, call);
      const waiting = state.pending?.voucher;
      const isOrdered = waiting && sameBytes(waiting.signature, voucher.signature);
      if (isOrdered !== true)
        await order({
          voucher,
          intent,
          order: { taskHash: receipt.delivery.taskHash, limit: voucher.limit },
        });
      const payload = concatBytes(receiptPartBytes(receiptPartOf(call)), checkOf(call));
      await keep(ANSWERED, payload, { head: { voucher, receipt, before }, pending: null });
    },
    adopt: (head) => keep(ADOPTED, sessionHeadBytes(head), adopting(state, head)),
    close: (closing) => keep(CLOSING, callVoucherBytes(closing), { closing, pending: null }),
    stop: (stopped) => keep(STOPPED, utf8.encode(JSON.stringify(stopped)), { stopped }),
    release: async () => {
      await log.close();
      release();
    },
    calls: async function* (from) {
      const until = log.length;
      const replay = new AgentReplay();
      const file = await open(path, "r");
      try {
        const form = await formOf(file, MAGIC);
        if (form === undefined) throw damaged(path, "it does not begin as it must");
        for await (const frame of framesIn(file, form, until)) {
          const call = await reading(path, async () => replay.take(frame, from));
          if (call !== null) yield call;
        }
        await reading(path, async () => replay.state());
      } finally {
        await file.close();
      }
    },
  };
};
