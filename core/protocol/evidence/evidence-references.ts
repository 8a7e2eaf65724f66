import type { Json } from "../../domain/encoding/canonical-json.ts";
import { EVENT_KINDS, type EventKind } from "../../domain/index/settlement-event.ts";
import { parseLedgerSignature } from "../../domain/ledger/signature.ts";
import { MERCHANT_STATUSES } from "../../domain/merchant/merchant.ts";
import { type Checkpoint, parseCheckpoint } from "../../log/checkpoint/checkpoint.ts";
import { parseLogOrigin } from "../../log/checkpoint/log-origin.ts";
import { parseTlogProof, type TlogProof } from "../../log/checkpoint/tlog-proof.ts";
import {
  addressIn,
  arrayIn,
  fail,
  objectIn,
  oneOfIn,
  slotIn,
  textIn,
  wholeIn,
} from "./strict-document.ts";

/** A packet's `references.log`, in the right form. Nothing in it is verified yet. */
export type LogReference = {
  /** The 16 hex digits of the log's origin: the network that the log is of. */
  readonly networkId: string;
  readonly proof: TlogProof;
  /** What the proof's checkpoint states, its origin among it. */
  readonly checkpoint: Checkpoint;
};

/** A text that has a value or a fault, whose value is taken. @throws WrongForm */
const valueOf = <A>(what: string, parsed: { readonly value: A } | { readonly fault: string }): A =>
  "value" in parsed ? parsed.value : fail(`${what}: ${parsed.fault}`);

/**
 * A packet's `references.log`: null, or an origin, an index and the tlog-proof that states both again.
 * See docs/verify-evidence.md, "The packet". @throws WrongForm
 */
export const logReferenceIn = (value: Json | undefined): LogReference | null => {
  if (value === null) return null;
  const what = "references.log";
  const log = objectIn(value, what, ["origin", "index", "proof"]);
  const origin = textIn(log["origin"], `${what}.origin`);
  const { networkId } = valueOf(`${what}.origin`, parseLogOrigin(origin));
  const index = wholeIn(log["index"], `${what}.index`, Number.MAX_SAFE_INTEGER);
  const proof = valueOf(`${what}.proof`, parseTlogProof(textIn(log["proof"], `${what}.proof`)));
  const { checkpoint } = valueOf(`${what}.proof`, parseCheckpoint(proof.checkpoint));
  if (proof.index !== index) fail(`${what}.index is not that of the proof`);
  if (checkpoint.origin !== origin) fail(`${what}.origin is not that of the checkpoint`);
  return { networkId, proof, checkpoint };
};

/** What a packet can say it could not find: the merchant's account, or the transaction of an event. */
export type NotFound = "merchant" | EventKind;

const NOT_FOUND: ReadonlyArray<NotFound> = ["merchant", ...EVENT_KINDS];

/** The most bytes of UTF-8 that a merchant account has room for in its name. */
const MAX_NAME_BYTES = 32;

const assertDistinct = (values: ReadonlyArray<string>, what: string): void => {
  if (new Set(values).size < values.length) fail(`${what} repeats an entry`);
};

const assertTransaction = (value: Json): EventKind => {
  const what = "a reference to a transaction";
  const transaction = objectIn(value, what, ["signature", "slot", "kind"]);
  if (parseLedgerSignature(textIn(transaction["signature"], what)) === undefined)
    fail(`${what} has no signature of 64 bytes in base58`);
  slotIn(transaction["slot"], `${what}'s slot`);
  return oneOfIn(transaction["kind"], `${what}'s kind`, EVENT_KINDS);
};

/**
 * Checks the form of a packet's `references` and returns the one that is judged: the proof that a log holds the
 * account. The others are not signed, and no check relies on them. See docs/evidence.md, "Evidence packet". @throws
 * WrongForm
 */
export const readReferences = (value: Json | undefined): { readonly log: LogReference | null } => {
  const members = ["transactions", "merchant", "observed", "archived", "log", "not_found"];
  const references = objectIn(value, "references", members);
  const transactions = arrayIn(references["transactions"], "references.transactions");
  const missing = arrayIn(references["not_found"], "references.not_found").map((each) =>
    oneOfIn(each, "an entry of references.not_found", NOT_FOUND),
  );
  assertDistinct(
    [...transactions.map(assertTransaction), ...missing],
    "references.transactions and references.not_found together",
  );
  if (references["merchant"] !== null) {
    const what = "references.merchant";
    const merchant = objectIn(references["merchant"], what, ["name", "status", "current_attestor"]);
    const name = textIn(merchant["name"], `${what}.name`);
    if (new TextEncoder().encode(name).length > MAX_NAME_BYTES)
      fail(`${what}.name has more than ${MAX_NAME_BYTES} bytes`);
    if (missing.includes("merchant")) fail(`${what} is in references.not_found as well`);
    oneOfIn(merchant["status"], `${what}.status`, MERCHANT_STATUSES);
    addressIn(merchant["current_attestor"], `${what}.current_attestor`);
  }
  if (references["observed"] !== null) {
    const what = "references.observed";
    const observed = objectIn(references["observed"], what, ["slot", "commitment"]);
    slotIn(observed["slot"], `${what}.slot`);
    oneOfIn(observed["commitment"], `${what}.commitment`, ["finalized"]);
  }
  if (references["archived"] !== null) {
    const what = "references.archived";
    const { digest } = objectIn(references["archived"], what, ["digest"]);
    if (!/^[0-9a-f]{64}$/.test(textIn(digest, `${what}.digest`)))
      fail(`${what}.digest is not 32 bytes in lower-case hex`);
  }
  return { log: logReferenceIn(references["log"]) };
};
