import {
  BYTES_A_POINT,
  LARGE_BODY_BYTES,
  MAX_BODY_BYTES,
  MAX_PAYLOAD_BODY_BYTES,
  MAX_VALUES_OF_LARGE_BODY,
} from "../request/body-limits.ts";

/** What a problem code means: its status, and what its page under `/problems/` says. */
export type ProblemKind = {
  readonly status: number;
  /** RFC 9457 `title`: the same for every occurrence. */
  readonly title: string;
  readonly explanation: string;
  readonly cure: string;
};

const kind = (status: number, title: string, explanation: string, cure: string): ProblemKind => ({
  status,
  title,
  explanation,
  cure,
});

/**
 * Every problem this service answers with, by its stable code. Codes are append-only: a published one
 * keeps its meaning and its status.
 */
export const PROBLEM_CATALOGUE = {
  malformed_host: kind(
    400,
    "The Host header is not a host",
    "The request's `Host` header is empty, is given more than once, or is not a host name, an IPv4 address or an IPv6 address in brackets, with or without a port. A name consists of letters, digits, `-` and `_`, in labels separated by dots.",
    "Send one `Host` header with the host and port of the service's address. Behind a proxy, let it send a name of your own instead of what its client wrote.",
  ),
  malformed_json: kind(
    400,
    "The body is not JSON",
    `The request body is empty, is not UTF-8, is not one JSON value, names a member of an object twice, holds a number whose digits a double cannot hold, is nested too deeply, or has more than ${MAX_VALUES_OF_LARGE_BODY} commas and opening brackets in more than ${LARGE_BODY_BYTES} bytes.`,
    "Send one JSON object, encoded as UTF-8. Name each member once, and write only numbers that a double holds.",
  ),
  malformed_cursor: kind(
    400,
    "The cursor is not from this list",
    "A cursor is opaque text from `page.next_cursor` of an earlier answer of the same list; that of a stream is the `id` of one of its events. This one was made elsewhere or was altered.",
    "Send back `next_cursor` unchanged, or leave `cursor` out to begin with the first page. For a stream send the `id` of an event.",
  ),
  origin_not_allowed: kind(
    403,
    "Pages of this origin may not call this",
    "The request's `Origin` header says that a page in a browser sent it, and the operation serves no page of that origin: a stranger's page must not act through a service on its visitor's own machine or network.",
    "Call it from a program, which sends no `Origin`, from a page on the same machine, or have the operator list the origin in `CORS_ORIGINS`; `*` does not cover it.",
  ),
  route_not_found: kind(
    404,
    "There is nothing at this path",
    "No operation or page has this path. A trailing slash makes another path, paths are case-sensitive, and steps such as `..` are not resolved.",
    "Compare the path with `/openapi.json` or `/docs`.",
  ),
  escrow_not_found: kind(
    404,
    "No such escrow",
    "The ledger has no escrow at this address. An escrow's address follows from its agent and task hash; preparing an escrow does not create it.",
    "Check the address and the cluster. If the escrow was created moments ago, ask again once its transaction is confirmed.",
  ),
  merchant_not_found: kind(
    404,
    "No such merchant",
    "The address is neither the wallet nor the merchant account of a registered merchant.",
    "Look the merchant up in `/v1/registry/merchants`, or register it: `POST /v1/merchants/prepare` prepares the transaction.",
  ),
  proof_template_not_found: kind(
    404,
    "No such proof template",
    "No proof template has this id.",
    "List the templates with `/v1/proof-templates`.",
  ),
  transaction_not_found: kind(
    404,
    "No such transaction is known",
    "Neither this relay nor the ledger's history knows the signature. That does not mean that the transaction cannot land: whoever holds its bytes can send them until its blockhash expires. A transaction that the relay refused stays unknown, however often this is asked.",
    "If nobody else was given the bytes and this relay refused them each time, unsent, prepare and sign again. Otherwise relay the same bytes or ask again, and do not sign the payment again on this answer.",
  ),
  not_in_log: kind(
    404,
    "The settlement log has no such part",
    "This service publishes no settlement log, or has published no checkpoint of it yet, or the log is too small for this tile, or the path is not one that a tile has.",
    "Read `/log/checkpoint` for the log's size. A tile's path is that of C2SP tlog-tiles: `/log/tile/<L>/<N>`, followed by `.p/<W>` for one that is not full.",
  ),
  wallet_links_off: kind(
    404,
    "This service makes no wallet links",
    "A wallet link begins with the service's own HTTPS address, which a Host header must not change. The operator has configured none.",
    "Have the operator set `PUBLIC_URL`, or call the prepare operation itself, as `/docs/wallets.md` shows.",
  ),
  method_not_allowed: kind(
    405,
    "The path does not have this method",
    "The path exists, but not for the method of the request.",
    "Use one of the methods in the `Allow` header.",
  ),
  not_acceptable: kind(
    406,
    "None of the accepted media types can be served",
    "The `Accept` header excludes every form in which this answer exists.",
    "Accept `application/json`, or leave the header out.",
  ),
  wrong_state: kind(
    409,
    "The ledger would refuse this now",
    "In the ledger's state at `slot`, the requested instructions would fail. `rule` names the rule that does not hold, `state` is the escrow's or the merchant's, `cure` says what to do, and `next_actions` what can be done with the escrow instead.",
    "Follow `cure`, or one of `next_actions`. A rule about the ledger's clock or other accounts can hold later.",
  ),
  not_logged_yet: kind(
    409,
    "The escrow's last event is not in the published log yet",
    "The ledger has the event, but the published checkpoint of the settlement log does not cover it yet. The log grows with the finalized ledger, and waits for the cosignatures of its witnesses.",
    "Ask again after `retry-after` seconds. `/v1/status` says what keeps the log from growing.",
  ),
  not_final_yet: kind(
    409,
    "The escrow is not finalized yet",
    "The ledger shows the escrow at `confirmed`, at `slot`, and not at `finalized` yet. Evidence and proofs are only made of finalized accounts, which nothing undoes. `finalized_slot` is how far the ledger is final, and `wait_seconds` how long the rest takes at 0.4 seconds a slot.",
    "Ask again after `retry-after` seconds. Until then read the escrow with `/v1/escrows`.",
  ),
  archived_unseen: kind(
    410,
    "The escrow was archived, and its bytes are not kept here",
    "The escrow was settled and archived: the ledger keeps a tombstone of 96 bytes with its final state, its event numbers and two digests, shown as `archived`. The address stays used for ever. This service does not have the account's last bytes.",
    "Take the bytes from the transaction that archived the escrow, or from an evidence packet, and compare their SHA-256 with `archived.digest`.",
  ),
  idempotency_key_in_flight: kind(
    409,
    "The first request with this key is not answered yet",
    "A request with the same `Idempotency-Key` and the same body is being worked on.",
    "Wait for its answer, or send the request again a little later with the same key.",
  ),
  payload_too_large: kind(
    413,
    "The body is too large",
    `The request body has more bytes than the service reads: ${MAX_PAYLOAD_BODY_BYTES} where it carries a delivery payload, ${MAX_BODY_BYTES} elsewhere.`,
    "Send a smaller body: `detail` has the limit of this operation, and `/openapi.json` that of each.",
  ),
  unsupported_media_type: kind(
    415,
    "The body is not declared as plain JSON",
    "The request's `Content-Type` is missing, or is not `application/json` in UTF-8, or its `Content-Encoding` names a compression.",
    "Send `content-type: application/json`, and the body uncompressed.",
  ),
  validation_failed: kind(
    422,
    "The request breaks the contract",
    "A value is missing, unknown, repeated, of the wrong type or out of its range. `errors` names each place: a JSON pointer into the body, or `?name` for a query parameter.",
    "Correct the places that `errors` names.",
  ),
  invalid_address: kind(
    422,
    "An address is malformed",
    "An address is the base58 text of exactly 32 bytes, in its canonical form. `errors` names those that are not.",
    "Correct the addresses that `errors` names.",
  ),
  task_required: kind(
    422,
    "The task is missing",
    "An escrow's address follows from its task, and the request has neither `task_hash` nor `task_intent`.",
    "Send `task_intent` (with a `nonce`), or the 32 bytes of `task_hash` in hex.",
  ),
  not_an_escrow: kind(
    422,
    "The account is not an escrow",
    "There is an account at this address, but it is not an escrow of this deployment.",
    "Use the `escrow_pda` of a prepared or indexed escrow.",
  ),
  not_a_merchant: kind(
    422,
    "The account is not a merchant",
    "The account at this address belongs to one of the two programs, but is not a merchant.",
    "Use the merchant's wallet, or its `merchant_pda`.",
  ),
  beta_limit_exceeded: kind(
    422,
    "A limit of the beta is exceeded",
    "This instance enforces the limits of the planned beta, and the request exceeds one of them; `errors` names it. When a relayed transaction is refused, `instruction_index` names the instruction that creates the escrow.",
    "Stay within `mainnet_beta_limits` of the service descriptor.",
  ),
  transaction_malformed: kind(
    422,
    "The transaction cannot be read",
    "The text is not canonical base64, or its bytes are not exactly one serialized transaction.",
    "Serialize the signed transaction with a Solana library and send its base64 unchanged.",
  ),
  transaction_too_large: kind(
    422,
    "The transaction is too large",
    "A serialized transaction may have at most 1232 bytes, signatures included.",
    "Split the work over several transactions.",
  ),
  signature_missing: kind(
    422,
    "A signature is missing",
    "The transaction requires a signature that it does not carry. The relay never signs.",
    "Let every required signer sign before relaying.",
  ),
  signature_invalid: kind(
    422,
    "A signature does not verify",
    "A signature is not valid for the transaction's message under its signer's key.",
    "Sign the exact message that is sent; do not change the transaction after signing.",
  ),
  program_not_allowed: kind(
    422,
    "The transaction calls a program that the relay does not allow",
    "The relay sends transactions that call the custody or attestor program, and may also call a short list of others.",
    "Compare the transaction's programs with `GET /v1/relay`.",
  ),
  lookup_table_not_allowed: kind(
    422,
    "A program is named through an address table",
    "Programs must be named in the transaction itself, not through an address lookup table.",
    "Build the transaction without address lookup tables.",
  ),
  durable_nonce_not_allowed: kind(
    422,
    "Durable nonces are not relayed",
    "A transaction with a durable nonce never expires, so its outcome could stay open for ever.",
    "Build the transaction with a recent blockhash.",
  ),
  compute_budget_exceeded: kind(
    422,
    "The transaction asks for too much computing",
    "The Compute Budget instructions ask for more compute units, or pay more for each, than the relay allows. The limits are in `GET /v1/relay`.",
    "Lower the unit limit or the unit price to what `max` says and sign again.",
  ),
  compute_budget_invalid: kind(
    422,
    "The ledger does not accept a Compute Budget instruction",
    "An instruction of the Compute Budget program is unknown, too short, a second one of its kind, or has a value out of range. The ledger drops such a transaction before it runs, whatever its state. Nothing was sent.",
    "Correct the instruction `instruction_index` as `detail` says and sign again.",
  ),
  settlement_check_failed: kind(
    422,
    "An instruction cannot succeed on the ledger",
    "The transaction was compared with the escrow, the merchant and the ledger's clock before sending, and the rule that `rule` names does not hold. Nothing was sent.",
    "Correct what `detail` names in the instruction `instruction_index` and sign again. `/docs/protocol.md#checks-against-the-ledger` lists the rules.",
  ),
  fee_payer_cannot_pay: kind(
    422,
    "The fee payer cannot pay",
    "At `confirmed`, the fee payer's balance does not cover the transaction's fee, or paying it would leave less than the rent minimum. Nothing was sent.",
    "Fund the fee payer; on a test network, use a faucet. The same transaction can then be sent again while its blockhash is valid.",
  ),
  transaction_rejected: kind(
    422,
    "The ledger refuses the transaction",
    "Simulation, or the ledger itself, found that the transaction fails. `error`, `program_error` and `logs` say why. `skip_preflight` ignores errors of programs, but not errors that keep the transaction from running at all.",
    "Correct what the program's error names, and sign again. If the answer has `slot`, the transaction has landed: ask `GET /v1/relay/{signature}`, and sign again once `safe_to_sign_again` is true.",
  ),
  blockhash_expired: kind(
    422,
    "The blockhash is not valid",
    "The ledger does not accept the transaction's blockhash: it is too old, or newer than what is confirmed. The transaction has not landed as far as is known, and this request sent nothing.",
    "If nobody else was given these bytes and every answer to them says that nothing was sent, prepare and sign again. Otherwise ask `GET /v1/relay/{signature}`, and sign again once `safe_to_sign_again` is true.",
  ),
  idempotency_key_reused: kind(
    422,
    "The key belongs to another request",
    "The same `Idempotency-Key` came with another body before.",
    "Use a new key for a new request, and the same key only to repeat one unchanged.",
  ),
  rate_limited: kind(
    429,
    "Too many requests",
    `The request costs more than is left of this client address's budget for this kind of request. It costs one point, plus one for each further ${BYTES_A_POINT} bytes or part of them in its body.`,
    "Wait for the seconds in `Retry-After`. `RateLimit` on every answer shows what is left.",
  ),
  relay_share_full: kind(
    429,
    "Too many pending transactions",
    "This client address or this fee payer has as many pending transactions as it may have; `holder` says which of the two. The share shrinks as the relay's queue fills, so that there is room for others. Nothing was sent.",
    "Send the same transaction again after the seconds in `Retry-After`. A place is free again when one of the pending transactions is finalized or has expired.",
  ),
  checkpoint_malformed: kind(
    400,
    "The checkpoint cannot be read",
    "The body is not what C2SP tlog-witness says of `add-checkpoint`, or the old size is above the checkpoint's.",
    "Send the line `old` with a size, the consistency proof, an empty line and the signed checkpoint.",
  ),
  log_signature_invalid: kind(
    403,
    "The log's key did not sign the checkpoint",
    "No signature under the checkpoint verifies under the key that this witness has for its origin.",
    "Give the witness's operator the log's present key.",
  ),
  log_unknown: kind(
    404,
    "This witness does not watch the log",
    "The checkpoint's origin is not among the witness's logs, or names another network than the one of its node.",
    "Give the witness's operator the log's key and address. A log of another network needs another witness.",
  ),
  checkpoint_refused: kind(
    422,
    "The witness refuses the checkpoint",
    "The checkpoint contradicts what the witness cosigned before, the entries that the log serves, or the events that the witness's node has finalized. A checkpoint of which that is certain is kept.",
    "Compare the log's entries with the ledger. A log that signed other entries has to end.",
  ),
  witness_not_ready: kind(
    503,
    "The witness cannot judge the checkpoint yet",
    "The witness's node has not finalized as many events, or more than the log serves; or the node, the log or the witness's state does not answer; or another checkpoint of the log is being judged.",
    "Offer the same checkpoint again after the seconds in `Retry-After`.",
  ),
  internal_error: kind(
    500,
    "The service made a mistake",
    "Something failed that should not. The request id leads the operator to it in the log.",
    "Report the request id. Repeating a read is safe; for a relay, ask for the transaction's outcome first.",
  ),
  ledger_unavailable: kind(
    502,
    "The ledger node gave no usable answer",
    "The service asked a node of the ledger and could not use the answer. This says nothing about the account or transaction that was asked about.",
    "Ask again shortly; `/v1/status` shows the node's state.",
  ),
  slot_beyond_reach: kind(
    502,
    "The ledger node claims a slot that is out of reach",
    "A sync of the index refused the slot that a node claims: the ledger cannot have reached it by this service's clock, or it is more than 64 slots below the one at which the index stands. Nothing was written, and the index is served as it was. `detail` names the JSON-RPC method whose answer has the slot.",
    "Ask again shortly: another node may answer. The operator compares the node's slot with another node's, and the clock of the service's machine with the time.",
  ),
  not_ready: kind(
    503,
    "The service is not ready",
    "`errors` names what is missing: the store or the ledger does not answer, the programs at the configured addresses are not initialised for each other, or the index has not been synced yet, so that a list would be empty or old without saying so.",
    "Ask again shortly. If it stays so, `/v1/status` says more: compare the program ids with the deployment.",
  ),
  client_package_unavailable: kind(
    503,
    "The client package could not be built",
    "The service builds its client package when it is first asked for, and the build failed. Everything else works.",
    "Build it from the repository with `bun run build`, which says what is wrong.",
  ),
  store_unavailable: kind(
    503,
    "The index cannot be read or written",
    "The store behind the index failed. Reads straight from the ledger still work.",
    "Ask again after the seconds in `Retry-After`.",
  ),
  relay_queue_full: kind(
    503,
    "The relay is full",
    "The relay's queue has as many pending transactions of all clients as it may have. Nothing was sent.",
    "Send the same transaction again after the seconds in `Retry-After`.",
  ),
  shutting_down: kind(
    503,
    "The service is shutting down",
    "This instance finishes its requests and accepts no new ones.",
    "Ask again; another instance, or the next start, will answer.",
  ),
  ledger_timeout: kind(
    504,
    "The ledger node did not answer in time",
    "The service asked a node of the ledger and waited as long as it may.",
    "Ask again shortly; `/v1/status` shows the node's state.",
  ),
} as const satisfies Readonly<Record<string, ProblemKind>>;

/** The stable name of a problem. */
export type ProblemCode = keyof typeof PROBLEM_CATALOGUE;

/** Every code, in the order of the catalogue. */
export const PROBLEM_CODES = Object.keys(PROBLEM_CATALOGUE) as ReadonlyArray<ProblemCode>;

/** Whether a text is the code of a problem. */
export const isProblemCode = (text: string): text is ProblemCode =>
  Object.hasOwn(PROBLEM_CATALOGUE, text);
