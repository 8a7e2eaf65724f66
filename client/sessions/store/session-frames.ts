import { concatBytes } from "@noble/hashes/utils.js";
import { type Address, addressFromBytes, addressToBytes } from "../../../core/domain/address.ts";
import { callAttestationBytes } from "../../../core/protocol/calls/call-receipt.ts";
import { callVoucherBytes } from "../../../core/protocol/calls/call-voucher.ts";
import { isAttestationSigned, isVoucherSigned } from "../../../core/protocol/calls/judge-call.ts";
import {
  type CallRecord,
  type SessionHead,
  sessionHeadBytes,
  tallyOf,
} from "../../../core/protocol/calls/session-head.ts";
import type { SessionTally } from "../../../core/protocol/calls/session-tally.ts";
import type { SessionTerms } from "../../../core/protocol/calls/session-terms.ts";
import {
  callAfter,
  type OrderPart,
  readCallRecord,
  type ReceiptPart,
  tallyAfter,
} from "./call-record.ts";
import { readAttestation, readHead, readSession, readVoucher, sessionText } from "./kept-bytes.ts";
import { newSession, type SessionState, tallyIn } from "./session-state.ts";
import type { KeptCall, KeptSession } from "./session-store.ts";

/** One thing that is kept of a session, by what kind it is. */
export type Frame = { readonly kind: number; readonly payload: Uint8Array };

/** What a frame of a session says. The numbers stand in files, and are never given to anything else. */
const OPENED = 1;
const CALLED = 2;
const ADOPTED = 3;
const CLOSING = 4;
const FINAL = 5;
const ENDED = 6;

const NONE = new Uint8Array();

/** The frames of a session, as its own file has them. */
export const sessionFrames = {
  opened: (session: KeptSession): Frame => ({
    kind: OPENED,
    payload: new TextEncoder().encode(sessionText(session)),
  }),
  called: (record: Uint8Array): Frame => ({ kind: CALLED, payload: record }),
  adopted: (head: SessionHead): Frame => ({ kind: ADOPTED, payload: sessionHeadBytes(head) }),
  /** A record that the agent showed, by its bytes. */
  shown: (head: Uint8Array): Frame => ({ kind: ADOPTED, payload: head }),
  closing: (voucher: NonNullable<SessionState["closing"]>): Frame => ({
    kind: CLOSING,
    payload: callVoucherBytes(voucher),
  }),
  final: (final: NonNullable<SessionState["final"]>): Frame => ({
    kind: FINAL,
    payload: callAttestationBytes(final),
  }),
  ended: (): Frame => ({ kind: ENDED, payload: NONE }),
};

/** Whether a frame is a call's. */
export const isCall = ({ kind }: Frame): boolean => kind === CALLED;

/** Whether a frame is a record that the agent showed. */
export const isAdopted = ({ kind }: Frame): boolean => kind === ADOPTED;

/** The session that a frame opens; undefined for any other frame. @throws RangeError or SyntaxError */
export const openedIn = ({ kind, payload }: Frame): KeptSession | undefined =>
  kind === OPENED ? readSession(new TextDecoder().decode(payload)) : undefined;

/** An escrow's address in front of bytes. */
export const ofEscrow = (escrow: Address, bytes: Uint8Array): Uint8Array =>
  concatBytes(addressToBytes(escrow), bytes);

/** The two of which `ofEscrow` made one. @throws Error for fewer bytes than an address has. */
export const escrowAndRest = (bytes: Uint8Array): readonly [escrow: Address, rest: Uint8Array] => [
  addressFromBytes(bytes.subarray(0, 32)),
  bytes.subarray(32),
];

/** @throws RangeError unless both sides signed a call that was put together from what is kept of it. */
export const requireSigned = (session: SessionTerms, { voucher, receipt }: CallRecord): void => {
  if (!isVoucherSigned(session, voucher) || !isAttestationSigned(session, receipt.attestation))
    throw new RangeError(`call ${voucher.count} is not the one that both sides signed`);
};

type Parts = readonly [order: OrderPart, receipt: ReceiptPart];

/**
 * Reads a session's frames one after another. The roots and signatures of the newest call are proved, which proves all
 * calls before it: at the end, and wherever a record that the agent showed was gone on from.
 */
export class SessionReplay {
  #state: SessionState;
  #tally: SessionTally;
  /** The newest call, of which only the parts are known yet. */
  #last: { readonly before: SessionTally; readonly parts: Parts } | null = null;

  constructor(state: SessionState) {
    this.#state = state;
    this.#tally = tallyIn(state);
  }

  /** A replay from a session's first frame on. @throws RangeError or SyntaxError for another frame. */
  static from(frame: Frame | undefined): SessionReplay {
    const session = frame && openedIn(frame);
    if (session === undefined) throw new RangeError("no session is opened");
    return new SessionReplay(newSession(session));
  }

  /** Takes a frame; the call of its record, where one is `wanted` from that number on. @throws RangeError */
  take({ kind, payload }: Frame, wanted = Number.POSITIVE_INFINITY): KeptCall | null {
    switch (kind) {
      case CALLED: {
        const before = this.#tally;
        const parts = readCallRecord(payload);
        this.#last = { before, parts };
        if (before.count + 1 < wanted) {
          this.#tally = tallyAfter(before, ...parts);
          return null;
        }
        const { call, after } = callAfter(before, this.#state.session.escrow, ...parts);
        this.#tally = after;
        return call;
      }
      case ADOPTED: {
        this.#prove();
        const newest = readHead(this.#state.session, payload);
        this.#state = { ...this.#state, newest, answer: null };
        this.#tally = tallyOf(newest);
        return null;
      }
      case CLOSING:
        this.#state = { ...this.#state, closing: readVoucher(payload) };
        return null;
      case FINAL:
        this.#state = { ...this.#state, final: readAttestation(payload) };
        return null;
      case ENDED:
        this.#state = { ...this.#state, isEnded: true };
        return null;
      default:
        throw new RangeError(`a frame of kind ${kind}`);
    }
  }

  /** Where the session stands, its newest call proved. @throws RangeError */
  state(): SessionState {
    this.#prove();
    return this.#state;
  }

  #prove(): void {
    if (this.#last === null) return;
    const { before, parts } = this.#last;
    const { voucher, receipt } = callAfter(before, this.#state.session.escrow, ...parts).call;
    requireSigned(this.#state.session, { voucher, receipt });
    this.#state = { ...this.#state, newest: { voucher, receipt, before }, answer: null };
    this.#last = null;
  }
}
