import { concatBytes } from "@noble/hashes/utils.js";
import type { Address } from "../../core/domain/address.ts";
import {
  answeredBytes,
  readAnswered,
  readStaged,
  readState,
  stagedBytes,
  stateBytes,
} from "../sessions/store/kept-bytes.ts";
import { packedNumber, PackedReader } from "../sessions/store/packed-bytes.ts";
import {
  escrowAndRest,
  type Frame,
  isAdopted,
  isCall,
  ofEscrow,
  openedIn,
  SessionReplay,
} from "../sessions/store/session-frames.ts";
import { newSession, type SessionState, tallyIn } from "../sessions/store/session-state.ts";
import type { SentAnswer, StagedCall } from "../sessions/store/session-store.ts";

/** Beside the kinds of a session's own frames: all that is kept of one, from which the journal goes on. */
const STANDING = 16;
/** A delivery that is not attested yet. It stands in the journal alone. */
const STAGED = 17;

/** A session that one process holds. */
export type HeldSession = {
  state: SessionState;
  isReserved: boolean;
  /** Bytes of the session's own file that count. */
  length: number;
  /** Frames that its own file does not have yet. */
  unsaved: Array<Frame>;
  /** What was asked for last; one thing is done at a time. */
  last: Promise<unknown>;
};

/** A session as its own file has it, with the number of bytes that count. */
export const heldSession = (
  state: SessionState,
  length: number,
  unsaved: ReadonlyArray<Frame> = [],
): HeldSession => ({
  state,
  isReserved: false,
  length,
  unsaved: [...unsaved],
  last: Promise.resolve(),
});

/** The frames that the journal has beside those of the sessions' own files, and in another form. */
export const journalFrames = {
  /** Everything that is kept of a session, so that the frames before it may go. */
  standing: ({ state, length }: Pick<HeldSession, "state" | "length">): Frame => ({
    kind: STANDING,
    payload: concatBytes(packedNumber(length), stateBytes(state)),
  }),
  staged: (call: StagedCall): Frame => ({
    kind: STAGED,
    payload: ofEscrow(call.voucher.escrow, stagedBytes(call)),
  }),
  /** A call with its answer; in its session's own file stands the record alone. */
  called: (escrow: Address, { kind, payload }: Frame, answer: SentAnswer | null): Frame => ({
    kind,
    payload: ofEscrow(escrow, answeredBytes(payload, answer)),
  }),
  other: (escrow: Address, { kind, payload }: Frame): Frame => ({
    kind,
    payload: ofEscrow(escrow, payload),
  }),
};

type Replayed = {
  readonly replay: SessionReplay;
  readonly length: number;
  readonly unsaved: Array<Frame>;
  answer: SentAnswer | null;
  /** In bytes, because they are read by where the session stands. */
  staged: Uint8Array | null;
};

/** Reads the journal's frames of all sessions, in order. */
export class JournalReplay {
  readonly #sessions = new Map<Address, Replayed>();

  /** Takes the next frame. @throws RangeError or SyntaxError for what was never written */
  take(frame: Frame): void {
    if (frame.kind === STANDING) {
      const reader = new PackedReader(frame.payload);
      const length = reader.number();
      this.#put(readState(reader.rest()), length, []);
      return;
    }
    const session = openedIn(frame);
    if (session === undefined) this.#taken(...escrowAndRest(frame.payload), frame);
    else this.#put(newSession(session), 0, [frame]);
  }

  /** What is held of each session after the last frame. @throws RangeError */
  sessions(): Map<Address, HeldSession> {
    const all = new Map<Address, HeldSession>();
    for (const [escrow, { replay, length, unsaved, answer, staged }] of this.#sessions) {
      const state = replay.state();
      const waiting = staged && readStaged(tallyIn(state), escrow, staged);
      all.set(escrow, heldSession({ ...state, answer, staged: waiting }, length, unsaved));
    }
    return all;
  }

  #put(state: SessionState, length: number, unsaved: Array<Frame>): void {
    const { escrow } = state.session;
    // Two that asked at once may both have written it.
    if (this.#sessions.has(escrow)) return;
    this.#sessions.set(escrow, {
      replay: new SessionReplay(state),
      length,
      unsaved,
      answer: state.answer,
      staged: state.staged && stagedBytes(state.staged),
    });
  }

  #taken(escrow: Address, rest: Uint8Array, frame: Frame): void {
    const each = this.#sessions.get(escrow);
    if (each === undefined) throw new RangeError(`nothing opens the session of ${escrow}`);
    if (frame.kind === STAGED) {
      each.staged = rest;
      return;
    }
    const [payload, answer] = isCall(frame) ? readAnswered(rest) : [rest, null];
    if (isCall(frame) || isAdopted(frame)) {
      each.answer = answer;
      each.staged = null;
    }
    const own = { kind: frame.kind, payload };
    each.replay.take(own);
    each.unsaved.push(own);
  }
}
