import { concatBytes } from "@noble/hashes/utils.js";
import { parseAddress } from "../../../core/domain/address.ts";
import { parseHash32 } from "../../../core/domain/hash32.ts";
import {
  callAttestationBytes,
  readCallAttestation,
} from "../../../core/protocol/calls/call-receipt.ts";
import { callVoucherBytes, readCallVoucher } from "../../../core/protocol/calls/call-voucher.ts";
import { readSessionHead, sessionHeadBytes } from "../../../core/protocol/calls/session-head.ts";
import type { Address } from "../../../core/domain/address.ts";
import type { SessionTally } from "../../../core/protocol/calls/session-tally.ts";
import { callAfter, readCallRecord, stagedRecordBytes } from "./call-record.ts";
import { packedBytes, packedNumber, PackedReader } from "./packed-bytes.ts";
import { type SessionState, tallyIn } from "./session-state.ts";
import type { KeptSession, SentAnswer, StagedCall } from "./session-store.ts";

const utf8 = new TextEncoder();
const textOf = (bytes: Uint8Array): string =>
  new TextDecoder("utf-8", { fatal: true }).decode(bytes);

const present = <T>(value: T | undefined, what: string): T => {
  if (value === undefined) throw new RangeError(`${what} is not there`);
  return value;
};

/** A session in one line of JSON. */
export const sessionText = ({ amount, createdAt, expiresAt, ...texts }: KeptSession): string =>
  JSON.stringify({
    ...texts,
    amount: String(amount),
    createdAt: String(createdAt),
    expiresAt: String(expiresAt),
  });

/** The session in such a text. @throws RangeError or SyntaxError for any other. */
export const readSession = (text: string): KeptSession => {
  const kept = JSON.parse(text) as Record<string, unknown>;
  const member = (name: string): string => {
    const value = kept[name];
    if (typeof value !== "string") throw new RangeError(`${name} is no text`);
    return value;
  };
  const addressIn = (name: string) => present(parseAddress(member(name)), name);
  const hashIn = (name: string) => present(parseHash32(member(name)), name);
  return {
    escrow: addressIn("escrow"),
    domain: hashIn("domain"),
    terms: hashIn("terms"),
    sessionKey: addressIn("sessionKey"),
    attestor: addressIn("attestor"),
    amount: BigInt(member("amount")),
    network: member("network"),
    mint: addressIn("mint"),
    createdAt: BigInt(member("createdAt")),
    expiresAt: BigInt(member("expiresAt")),
  };
};

/** An answer in bytes: its status, its headers as JSON, its body. */
export const answerBytes = ({ status, headers, body }: SentAnswer): Uint8Array =>
  concatBytes(packedNumber(status), packedBytes(utf8.encode(JSON.stringify(headers))), body);

/** The answer in bytes. @throws RangeError or SyntaxError for what `answerBytes` never gives. */
export const readAnswer = (bytes: Uint8Array): SentAnswer => {
  const reader = new PackedReader(bytes);
  const status = reader.number();
  const headers = JSON.parse(textOf(reader.bytes())) as SentAnswer["headers"];
  return { status, headers, body: reader.rest() };
};

const NONE = new Uint8Array();

/** A call's record with its answer, in one piece, so that none is there without the other. */
export const answeredBytes = (record: Uint8Array, answer: SentAnswer | null): Uint8Array =>
  concatBytes(
    packedBytes(record),
    packedNumber(answer === null ? 0 : 1),
    answer === null ? NONE : answerBytes(answer),
  );

/** What `answeredBytes` wrote. @throws RangeError or SyntaxError */
export const readAnswered = (
  bytes: Uint8Array,
): readonly [record: Uint8Array, answer: SentAnswer | null] => {
  const reader = new PackedReader(bytes);
  const record = reader.bytes();
  const hasAnswer = reader.number() === 1;
  const rest = reader.rest();
  return [record, hasAnswer ? readAnswer(rest) : null];
};

/** A delivery that waits for its attestation, in bytes. */
export const stagedBytes = (call: StagedCall): Uint8Array =>
  answeredBytes(stagedRecordBytes(call), call.answer);

/** What `stagedBytes` wrote, by where the session stood before it. @throws RangeError or SyntaxError */
export const readStaged = (
  before: SessionTally,
  escrow: Address,
  bytes: Uint8Array,
): StagedCall => {
  const [record, answer] = readAnswered(bytes);
  const { voucher, receipt, intent, status } = callAfter(
    before,
    escrow,
    ...readCallRecord(record),
  ).call;
  return { voucher, delivery: receipt.delivery, intent, status, answer };
};

const HAS_ANSWER = 1;
const IS_ENDED = 2;
const IS_STAGED = 4;

/** Everything that is kept of a session beside its calls, in bytes. */
export const stateBytes = (state: SessionState): Uint8Array => {
  const { session, newest, closing, final, staged, answer, isEnded } = state;
  return concatBytes(
    packedNumber(
      (answer === null ? 0 : HAS_ANSWER) +
        (isEnded ? IS_ENDED : 0) +
        (staged === null ? 0 : IS_STAGED),
    ),
    packedBytes(utf8.encode(sessionText(session))),
    packedBytes(newest === null ? NONE : sessionHeadBytes(newest)),
    packedBytes(closing === null ? NONE : callVoucherBytes(closing)),
    packedBytes(final === null ? NONE : callAttestationBytes(final)),
    staged === null ? NONE : packedBytes(stagedBytes(staged)),
    answer === null ? NONE : answerBytes(answer),
  );
};

/** The newest record in bytes, proved by both signatures. @throws RangeError for any other. */
export const readHead = (session: KeptSession, bytes: Uint8Array) =>
  present(readSessionHead(session, bytes), "a record that both sides signed");

/** A voucher in bytes. @throws RangeError for what `callVoucherBytes` never gives. */
export const readVoucher = (bytes: Uint8Array) => present(readCallVoucher(bytes), "a voucher");

/** An attestation in bytes. @throws RangeError for what `callAttestationBytes` never gives. */
export const readAttestation = (bytes: Uint8Array) =>
  present(readCallAttestation(bytes), "an attestation");

/** What `stateBytes` wrote. The newest record is proved by its signatures. @throws RangeError or SyntaxError */
export const readState = (bytes: Uint8Array): SessionState => {
  const reader = new PackedReader(bytes);
  const marks = reader.number();
  const session = readSession(textOf(reader.bytes()));
  const [head, closing, final] = [reader.bytes(), reader.bytes(), reader.bytes()];
  const staged = (marks & IS_STAGED) === 0 ? null : reader.bytes();
  const answer = reader.rest();
  const newest = head.length === 0 ? null : readHead(session, head);
  return {
    session,
    newest,
    closing: closing.length === 0 ? null : readVoucher(closing),
    final: final.length === 0 ? null : readAttestation(final),
    staged: staged && readStaged(tallyIn({ newest }), session.escrow, staged),
    answer: (marks & HAS_ANSWER) === 0 ? null : readAnswer(answer),
    isEnded: (marks & IS_ENDED) !== 0,
  };
};
