import { type Exchange, get, post } from "../exchange.ts";
import { ledgerDown, ledgerSlow, notFinalYet, storeDown } from "../world/conditions.ts";
import {
  CLOSED,
  EXPIRED,
  FULFILLED,
  OBSCURE,
  PARTIAL,
  payloadOf,
  PENDING,
  REFUNDED,
} from "../world/escrows.ts";
import { AGENT_TOKENS, BROKEN_ESCROW, TOMBSTONE } from "../world/ledger-accounts.ts";
import { MERCHANT, STRANGER } from "../world/parties.ts";
import { PROOF_TEMPLATES } from "../../../../core/domain/evidence/proof-template.ts";

const read = (title: string, id: string) =>
  get("readProofTemplate", title, `/v1/proof-templates/${id}`);
const list = (title: string, query = "") =>
  get("listProofTemplates", title, `/v1/proof-templates${query}`);

/** What the operations on proof templates answer. */
export const proofTemplateExchanges: ReadonlyArray<Exchange> = [
  list("all"),
  list("of a wedge", "?wedge=api-data"),
  list("of an unknown wedge", "?wedge=nothing"),
  list("an empty wedge", "?wedge="),
  list("a wedge that is too long", `?wedge=${"x".repeat(65)}`),
  ...PROOF_TEMPLATES.map(({ id }) => read(id, id)),
  read("an unknown template", "nothing"),
  read("invalid percent-encoding", "%ff"),
];

const packet = (
  title: string,
  address: string,
  more: Partial<Exchange> & { query?: string } = {},
) => {
  const { query = "", ...rest } = more;
  return get("buildEvidence", title, `/v1/evidence/${address}${query}`, rest);
};
const page = (title: string, address: string) =>
  packet(`as a page: ${title}`, address, { headers: { accept: "text/html,*/*;q=0.8" } });
const ifNoneMatch = (tag: string, more: Readonly<Record<string, string>> = {}) => ({
  headers: { "if-none-match": tag, ...more },
});

const packets: ReadonlyArray<Exchange> = [
  packet("Pending", PENDING.address),
  packet("Pending and expired", EXPIRED.address),
  packet("PartiallyFulfilled", PARTIAL.address),
  packet("Refunded", REFUNDED.address),
  packet("Fulfilled, merchant and transactions not found", OBSCURE.address),
  packet("Fulfilled", FULFILLED.address),
  packet("Fulfilled, asked for again", FULFILLED.address),
  packet("its own validator", FULFILLED.address, ifNoneMatch("{etag}")),
  packet(
    "its own validator, weak and among others",
    FULFILLED.address,
    ifNoneMatch('"other", W/{etag}'),
  ),
  packet("any validator", FULFILLED.address, ifNoneMatch("*")),
  packet("another validator", FULFILLED.address, ifNoneMatch('"other"')),
  packet("HEAD with its own validator", FULFILLED.address, {
    method: "HEAD",
    ...ifNoneMatch("{etag}"),
  }),
  packet("Pending, any validator", PENDING.address, ifNoneMatch("*")),
  packet("to be saved", FULFILLED.address, { query: "?download=json" }),
  packet("to be saved, by a browser", FULFILLED.address, {
    query: "?download=json",
    headers: { accept: "text/html,*/*;q=0.8" },
  }),
  page("Pending", PENDING.address),
  page("Pending and expired", EXPIRED.address),
  page("PartiallyFulfilled", PARTIAL.address),
  page("Refunded", REFUNDED.address),
  page("Fulfilled, merchant and transactions not found", OBSCURE.address),
  page("Fulfilled", FULFILLED.address),
  packet(
    "as a page: its own validator",
    FULFILLED.address,
    ifNoneMatch("{etag}", { accept: "text/html" }),
  ),
  packet("the store is down: a packet that is remembered", FULFILLED.address, { given: storeDown }),
  packet("the ledger is down: a packet that is remembered", FULFILLED.address, {
    given: ledgerDown,
  }),
  packet("the ledger is down", PENDING.address, { given: ledgerDown }),
  packet("the ledger is slow", PENDING.address, { given: ledgerSlow }),
  packet("the store is down: a Pending escrow", PENDING.address, { given: storeDown }),
  packet("an invalid address", "O0Il"),
  packet("a tombstone", TOMBSTONE.address),
  packet("no account", STRANGER.address),
  packet("confirmed, and not final yet", PENDING.address, { given: notFinalYet(PENDING) }),
  packet("a merchant account", MERCHANT.address),
  packet("a token account", AGENT_TOKENS.address),
  packet("a broken escrow", BROKEN_ESCROW.address),
  packet("an unknown form of download", FULFILLED.address, { query: "?download=pdf" }),
];

const delivery = (title: string, body: unknown, more: Partial<Exchange> & { of?: string } = {}) => {
  const { of = FULFILLED.address, ...rest } = more;
  return post("verifyDelivery", title, `/v1/evidence/${of}/verify`, body, rest);
};
const payload = payloadOf(FULFILLED);
const { request_url: _, ...incomplete } = payload as Readonly<Record<string, unknown>>;

const deliveries: ReadonlyArray<Exchange> = [
  delivery("the payload that was attested", { payload }),
  delivery("another payload", { payload: { ...payload, status_code: 500 } }),
  delivery("fields that are missing, of another type and not in the template", {
    payload: { ...incomplete, status_code: "200", extra: [1], task_hash: "00".repeat(32) },
  }),
  delivery("a payload without template or task hash", { payload: { a: 1 } }),
  delivery("a payload that names an unknown template", {
    payload: { ...payload, proof_template_id: "none-v1" },
  }),
  delivery("a template that is asked for", { payload, template_id: "ticket-issued-v1" }),
  delivery("PartiallyFulfilled", { payload: payloadOf(PARTIAL) }, { of: PARTIAL.address }),
  delivery("Pending", { payload: payloadOf(PENDING) }, { of: PENDING.address }),
  delivery("Refunded", { payload: payloadOf(REFUNDED) }, { of: REFUNDED.address }),
  delivery("a session", { payload: payloadOf(CLOSED) }, { of: CLOSED.address }),
  delivery("an unknown template", { payload, template_id: "none-v1" }),
  delivery("an empty name of a template", { payload, template_id: "" }),
  delivery("a payload that is a list", { payload: [] }),
  delivery("a number that JSON does not carry exactly", '{"payload":{"n":[9007199254740993]}}'),
  delivery("half a character", '{"payload":{"a":["\\ud800"]}}'),
  delivery("a member of the payload twice", '{"payload":{"a":1,"a":2}}'),
  delivery("an invalid address", { payload }, { of: "O0Il" }),
  delivery("a tombstone", { payload }, { of: TOMBSTONE.address }),
  delivery("no account", { payload }, { of: STRANGER.address }),
  delivery("a merchant account", { payload }, { of: MERCHANT.address }),
  delivery("the ledger is down", { payload }, { given: ledgerDown }),
  delivery("the ledger is slow", { payload }, { given: ledgerSlow }),
];

const keys = (title: string) => get("listEvidenceKeys", title, "/.well-known/jwks.json");
const trust = (title: string, given?: Exchange["given"]) =>
  get(
    "readEvidenceTrust",
    title,
    "/.well-known/evidence-trust.json",
    given === undefined ? {} : { given },
  );

/** What the operations on evidence answer. */
export const evidenceExchanges: ReadonlyArray<Exchange> = [
  ...packets,
  ...deliveries,
  keys("one key"),
  trust("one key"),
  trust("the ledger is down", ledgerDown),
  trust("the ledger is slow", ledgerSlow),
  trust("the store is down", storeDown),
];

/** What they answer without a key: packets are unsigned, former keys are still published. */
export const unsignedExchanges: ReadonlyArray<Exchange> = [
  packet("without a key: Fulfilled", FULFILLED.address),
  packet("without a key: Pending", PENDING.address),
  page("without a key: Fulfilled", FULFILLED.address),
  keys("no key, and a former one"),
  trust("no key, and a former one"),
];

/** What is answered while whoever holds the key does not sign. */
export const heldKeyExchanges: ReadonlyArray<Exchange> = [
  packet("the evidence key gives no signature", FULFILLED.address),
];

/** What they answer after two rotations. */
export const rotatedExchanges: ReadonlyArray<Exchange> = [
  packet("a third key: Fulfilled", FULFILLED.address),
  keys("a third key, one that is retired and one that is revoked"),
  trust("a third key, one that is retired and one that is revoked"),
];
