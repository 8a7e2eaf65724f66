import type { Json } from "../../domain/encoding/canonical-json.ts";
import { parseLedgerSignature } from "../../domain/ledger/signature.ts";
import { MERCHANT_STATUSES } from "../../domain/merchant/merchant.ts";
import { EVENT_KINDS, type EventKind } from "../../domain/index/settlement-event.ts";
import { type LogReference, logReferenceIn } from "./log-reference.ts";
import { addressIn, arrayIn, fail, objectIn, oneOfIn, slotIn, textIn } from "./packet-form.ts";

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
 * Checks the form of a packet's `references` and returns the one that is judged: the proof that a log holds the account. The others
 * are not signed, and no check relies on them. See docs/protocol.md, "Evidence packet". @throws WrongForm
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
