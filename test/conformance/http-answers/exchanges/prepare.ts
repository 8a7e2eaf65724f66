import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { type Exchange, post } from "../exchange.ts";
import { all, clockAt, ledgerDown, ledgerSlow } from "../world/conditions.ts";
import {
  captured,
  CLOSED,
  EXPIRED,
  FULFILLED,
  LARGEST,
  PARTIAL,
  payloadOf,
  PENDING,
  REFUNDED,
  releaseBodyOf,
  SESSION,
  sessionBodyOf,
} from "../world/escrows.ts";
import { accountOf } from "../world/payments.ts";
import {
  AGENT_TOKENS,
  RICH,
  SHARED_TOKENS,
  TOMBSTONE,
  tokenAccount,
} from "../world/ledger-accounts.ts";
import { AGENT, ATTESTOR, MERCHANT, STRANGER, SUSPENDED } from "../world/parties.ts";
import { PRIVATE_KEY } from "./private-key.ts";
import { MINT } from "../../../adapters/http/support/parties.ts";
import type { World } from "../world/fixed-world.ts";

type Given = Exchange["given"];

const call =
  (operation: string, name: string) =>
  (title: string, escrow: { readonly address: string }, body: unknown, given?: Given, query = "") =>
    post(
      operation,
      title,
      `/v1/escrows/${escrow.address}/${name}/prepare${query}`,
      body,
      given === undefined ? {} : { given },
    );

const attestation = call("prepareAttestation", "attestation");
const capture = call("prepareCapture", "capture");
const release = call("prepareRelease", "release");
const close = call("prepareClose", "close");
const rent = call("prepareRent", "rent");
const refund = call("prepareRefund", "refund");
const cancel = call("prepareCancel", "cancel");
const archive = call("prepareArchive", "archive");

const WHOLE = "?transaction=true";
const BY_RICH = { payer: RICH.address };

/** The merchant's associated account is frozen. */
const frozenMerchant = ({ ledger }: World): void => {
  const account = tokenAccount(MERCHANT.wallet, MINT, 0n, true);
  ledger.put(account);
};

/** The merchant has no associated account. */
const noMerchantAccount = ({ ledger }: World): void => {
  ledger.vanish(tokenAccount(MERCHANT.wallet, MINT, 0n).address);
};

/** The session after its capture. */
const captureLanded = ({ ledger }: World): void => ledger.put(accountOf(captured(SESSION)));

/** The session after its agent closed it. */
const sessionClosing = ({ ledger }: World): void =>
  ledger.put(accountOf({ ...SESSION, closesAt: SESSION.expiresAt }));

/** A settled escrow whose closed vault's rent is still in its account. */
const richAccount =
  (escrow: Escrow): Given =>
  ({ ledger }) =>
    ledger.put({ ...accountOf(escrow), lamports: 5_825_520n });

const archivable = ({ settledAt }: Escrow) => clockAt((settledAt ?? 0n) + 604_800n);

const attestations: ReadonlyArray<Exchange> = [
  attestation("of a payload", PENDING, { payload: payloadOf(PENDING) }),
  attestation("of a hash", PENDING, { proof_hash: "0f".repeat(32) }),
  attestation("for a part", PENDING, { proof_hash: "0f".repeat(32), amount_stroops: "1" }),
  attestation(
    "in the last second",
    PENDING,
    { proof_hash: "0f".repeat(32) },
    clockAt(PENDING.expiresAt - 1n),
  ),
  attestation("for all of it, said in base units", PENDING, {
    proof_hash: "0f".repeat(32),
    amount_stroops: "1500000",
  }),
  attestation("for more than all of it", PENDING, {
    proof_hash: "0f".repeat(32),
    amount_stroops: "1500001",
  }),
  attestation("two deliveries of a single payment", PENDING, {
    proof_hash: "0f".repeat(32),
    deliveries: 2,
  }),
  attestation("of a single payment that is not final", PENDING, {
    proof_hash: "0f".repeat(32),
    final: false,
  }),
  attestation("no deliveries", SESSION, { proof_hash: "0f".repeat(32), deliveries: 0 }),
  attestation("for a capture", SESSION, {
    proof_hash: "0f".repeat(32),
    amount_stroops: "30000",
    deliveries: 3,
    final: false,
  }),
  attestation(
    "below what was captured",
    SESSION,
    { proof_hash: "0f".repeat(32), amount_stroops: "1", deliveries: 2, final: false },
    captureLanded,
  ),
  attestation("an amount that is null", PENDING, {
    proof_hash: "0f".repeat(32),
    amount_stroops: null,
  }),
  attestation("neither payload nor hash", PENDING, {}),
  attestation("both payload and hash", PENDING, {
    payload: payloadOf(PENDING),
    proof_hash: "0f".repeat(32),
  }),
  attestation("a payload of another task", PENDING, { payload: payloadOf(EXPIRED) }),
  attestation("a payload that does not meet its template", PENDING, {
    payload: { ...payloadOf(PENDING), status_code: "200" },
  }),
  attestation("an unknown template", PENDING, { payload: payloadOf(PENDING), template_id: "none" }),
  attestation("a payload that names an unknown template", PENDING, {
    payload: { proof_template_id: "none" },
  }),
  attestation("a hash that is too short", PENDING, { proof_hash: "0f" }),
  attestation("an expired escrow", EXPIRED, { proof_hash: "0f".repeat(32) }),
  attestation("a settled escrow", FULFILLED, { proof_hash: "0f".repeat(32) }),
  attestation("the ledger is down", PENDING, { proof_hash: "0f".repeat(32) }, ledgerDown),
];

const captures: ReadonlyArray<Exchange> = [
  capture("of half", SESSION, sessionBodyOf(SESSION)),
  capture(
    "a whole transaction",
    SESSION,
    { ...sessionBodyOf(SESSION), ...BY_RICH },
    undefined,
    WHOLE,
  ),
  capture("of what was captured before", SESSION, sessionBodyOf(SESSION), captureLanded),
  capture("a voucher below what is attested", SESSION, sessionBodyOf(SESSION, { total: 1n })),
  capture("a voucher that is not one", SESSION, {
    ...sessionBodyOf(SESSION),
    voucher: { orders: "0f", total_stroops: "0", count: 0, closing: false, signature: "AAAA" },
  }),
  capture("without a voucher", SESSION, { ...sessionBodyOf(SESSION), voucher: undefined }),
  capture("another total than the attestor signed", SESSION, {
    ...sessionBodyOf(SESSION),
    amount_stroops: "749999",
  }),
  capture("a total above what a u64 holds", SESSION, {
    ...sessionBodyOf(SESSION),
    amount_stroops: "18446744073709551616",
  }),
  capture("by the final attestation", SESSION, sessionBodyOf(SESSION, { isFinal: true })),
  capture("a single payment", PENDING, sessionBodyOf(PENDING)),
  capture("after its end", SESSION, sessionBodyOf(SESSION), clockAt(SESSION.expiresAt)),
  capture("a settled session", CLOSED, sessionBodyOf(CLOSED)),
  capture("a payer that is a private key", SESSION, {
    ...sessionBodyOf(SESSION),
    payer: PRIVATE_KEY,
  }),
  release(
    "of a session, with the closing voucher",
    SESSION,
    sessionBodyOf(SESSION, { isFinal: true }),
  ),
  release("of a session by an attestation that is not final", SESSION, sessionBodyOf(SESSION)),
  release(
    "of a session by a voucher of more than is attested",
    SESSION,
    sessionBodyOf(SESSION, { isFinal: true, total: SESSION.amount }),
  ),
  release("of a single payment, with a voucher", PENDING, {
    ...releaseBodyOf(PENDING),
    voucher: sessionBodyOf(PENDING).voucher,
  }),
  release("alone", PENDING, { ...releaseBodyOf(PENDING, 400_000n), bare: true }),
  close("of a session", SESSION, BY_RICH),
  close("a whole transaction", SESSION, {}, undefined, WHOLE),
  close("a second time", SESSION, BY_RICH, sessionClosing),
  close("of a single payment", PENDING, BY_RICH),
  close("after its end", SESSION, BY_RICH, clockAt(SESSION.expiresAt)),
];

const releases: ReadonlyArray<Exchange> = [
  release("of all of it", PENDING, releaseBodyOf(PENDING)),
  release("of a part", PENDING, releaseBodyOf(PENDING, 400_000n)),
  release(
    "a whole transaction",
    PENDING,
    { ...releaseBodyOf(PENDING), ...BY_RICH },
    undefined,
    WHOLE,
  ),
  release("the merchant's account is missing", PENDING, releaseBodyOf(PENDING), noMerchantAccount),
  release("the merchant's account is frozen", PENDING, releaseBodyOf(PENDING), frozenMerchant),
  release(
    "the merchant's account is frozen, and a shared one is named",
    PENDING,
    { ...releaseBodyOf(PENDING), merchant_fallback_account: SHARED_TOKENS.address },
    frozenMerchant,
  ),
  release("a signature over another amount", PENDING, {
    ...releaseBodyOf(PENDING, 400_000n),
    amount_stroops: "400001",
  }),
  release("a signature that is not one", PENDING, {
    ...releaseBodyOf(PENDING),
    attestation_signature: "AAAA",
  }),
  release("an amount that is null", PENDING, { ...releaseBodyOf(PENDING), amount_stroops: null }),
  release(
    "an attestation that is stale",
    PENDING,
    releaseBodyOf(PENDING),
    clockAt(PENDING.createdAt + 301n),
  ),
  release("an expired escrow", EXPIRED, releaseBodyOf(EXPIRED)),
  release("a settled escrow", FULFILLED, releaseBodyOf(FULFILLED)),
  release("a transaction without payer", PENDING, releaseBodyOf(PENDING), undefined, WHOLE),
  release("a payer that is a private key", PENDING, {
    ...releaseBodyOf(PENDING),
    payer: PRIVATE_KEY,
  }),
  release("the ledger is slow", PENDING, releaseBodyOf(PENDING), ledgerSlow),
];

const returns: ReadonlyArray<Exchange> = [
  refund("of what a settled escrow's vault holds", PARTIAL, BY_RICH),
  refund("alone", EXPIRED, { ...BY_RICH, bare: true }),
  rent("of a settled escrow", FULFILLED, BY_RICH, richAccount(FULFILLED)),
  rent("with nothing above its own", FULFILLED, BY_RICH),
  rent("a Pending escrow", PENDING, BY_RICH),
  cancel("alone", PENDING, { ...BY_RICH, bare: true }),
  refund("of an expired escrow", EXPIRED, {}),
  refund("a whole transaction", EXPIRED, BY_RICH, undefined, WHOLE),
  refund("before expiry", PENDING, {}),
  refund("of a settled escrow", REFUNDED, {}),
  refund("a payer who cannot pay", EXPIRED, { payer: STRANGER.address }),
  refund("the agent's account is frozen", LARGEST, {}, clockAt(LARGEST.expiresAt)),
  cancel("paid by somebody else", PENDING, BY_RICH),
  cancel("a whole transaction", PENDING, BY_RICH, undefined, WHOLE),
  cancel("the merchant's wallet has nothing", PENDING, {}),
  cancel("after expiry", EXPIRED, BY_RICH),
  archive("a week after settlement", REFUNDED, {}, archivable(REFUNDED)),
  archive("a whole transaction", REFUNDED, BY_RICH, archivable(REFUNDED), WHOLE),
  archive("too early", FULFILLED, {}),
  archive("a Pending escrow", PENDING, {}),
  archive("the ledger is down", REFUNDED, {}, all(archivable(REFUNDED), ledgerDown)),
];

/** What every prepare operation on an escrow answers to an address that is not an escrow's, and without a ledger. */
const notEscrows: ReadonlyArray<Exchange> = [
  { of: attestation, body: { proof_hash: "0f".repeat(32) } },
  { of: capture, body: sessionBodyOf(SESSION) },
  { of: release, body: releaseBodyOf(PENDING) },
  { of: close, body: {} },
  { of: rent, body: {} },
  { of: refund, body: {} },
  { of: cancel, body: {} },
  { of: archive, body: {} },
].flatMap(({ of, body }) => [
  of("an invalid address", { address: "O0Il" }, body),
  of("no escrow at the address", STRANGER, body),
  of("an archived escrow", TOMBSTONE, body),
  of("a token account", AGENT_TOKENS, body),
  of("no node answers", PENDING, body, ledgerDown),
  of("no node answers in time", PENDING, body, ledgerSlow),
]);

const register = (title: string, body: object, query = "", given?: Given) =>
  post(
    "prepareMerchant",
    title,
    `/v1/merchants/prepare${query}`,
    { merchant: RICH.address, attestor: ATTESTOR.address, name: "New Data", ...body },
    given === undefined ? {} : { given },
  );
const rotate = (title: string, wallet: string, body: object, query = "", given?: Given) =>
  post(
    "prepareAttestor",
    title,
    `/v1/merchants/${wallet}/attestor/prepare${query}`,
    { attestor: AGENT.address, payer: RICH.address, ...body },
    given === undefined ? {} : { given },
  );
const SMALL_ORDER = "4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM";

const merchants: ReadonlyArray<Exchange> = [
  register("a wallet with lamports", {}),
  register(
    "a whole transaction that somebody else pays",
    { merchant: STRANGER.address, ...BY_RICH },
    WHOLE,
  ),
  register("a wallet without lamports", { merchant: STRANGER.address }),
  register("one that is registered", { merchant: MERCHANT.wallet, ...BY_RICH }),
  register("a key of small order", { attestor: SMALL_ORDER }),
  register("a name that turns direction", { name: "a\u202eb" }),
  register("an invalid wallet", { merchant: "O0Il" }),
  rotate("to another key", MERCHANT.wallet, {}),
  rotate(
    "to another key, and all earlier escrows are revoked",
    MERCHANT.wallet,
    { revoke: true },
    WHOLE,
  ),
  rotate("a Suspended merchant", SUSPENDED.wallet, {}),
  rotate("to the present key", MERCHANT.wallet, { attestor: ATTESTOR.address }),
  rotate("to a key of small order", MERCHANT.wallet, { attestor: SMALL_ORDER }),
  rotate("a wallet that is not registered", STRANGER.address, {}),
  rotate("an invalid wallet", "O0Il", {}),
  register("no node answers", {}, "", ledgerDown),
  register("no node answers in time", {}, "", ledgerSlow),
  rotate("no node answers", MERCHANT.wallet, {}, "", ledgerDown),
  rotate("no node answers in time", MERCHANT.wallet, {}, "", ledgerSlow),
];

/** What the other prepare operations answer. */
export const prepareExchanges: ReadonlyArray<Exchange> = [
  ...attestations,
  ...captures,
  ...releases,
  ...returns,
  ...notEscrows,
  ...merchants,
];
