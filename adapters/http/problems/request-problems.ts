import {
  LARGE_BODY_BYTES,
  MAX_BODY_BYTES,
  MAX_PAYLOAD_BODY_BYTES,
  MAX_VALUES_OF_LARGE_BODY,
} from "../request/request-body.ts";
import { kind, type ProblemKind } from "./problem-kind.ts";

/** Problems of a request to any operation: its form, and what it asks for. */
export const REQUEST_PROBLEMS = {
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
    "The event is not in the published log yet",
    "The published checkpoint of the settlement log does not cover the event's leaf yet. The log grows with the finalized ledger, and waits for the cosignatures of its witnesses.",
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
} as const satisfies Readonly<Record<string, ProblemKind>>;
