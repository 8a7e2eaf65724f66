import { MINT } from "../../../adapters/http/support/parties.ts";
import { type Exchange, get, post } from "../exchange.ts";
import { archivedNow, clockAt, ledgerDown, ledgerSlow } from "../world/conditions.ts";
import {
  EXPIRED,
  FULFILLED,
  LARGEST,
  OBSCURE,
  PARTIAL,
  PENDING,
  REFUNDED,
} from "../world/escrows.ts";
import {
  AGENT_TOKENS,
  BROKEN_ESCROW,
  ONLY_FUNDED,
  RICH,
  TOMBSTONE,
} from "../world/ledger-accounts.ts";
import {
  SESSION_KEY,
  AGENT,
  MERCHANT,
  OTHER_AGENT,
  OTHER_MINT,
  STRANGER,
  SUSPENDED,
} from "../world/parties.ts";
import { PRIVATE_KEY } from "./private-key.ts";
import { PREPARE_BODY, sampleOf } from "./samples.ts";

const { path: PREPARE } = sampleOf("prepareEscrow");

const prepare = (title: string, change: Readonly<Record<string, unknown>> = {}, query = "") =>
  post("prepareEscrow", title, `${PREPARE}${query}`, { ...PREPARE_BODY, ...change });
const preflight = (title: string, change: Readonly<Record<string, unknown>> = {}) =>
  prepare(`preflight: ${title}`, change, "?preflight=true");

const prepared: ReadonlyArray<Exchange> = [
  prepare("by the intent and a nonce"),
  prepare("by the intent alone", { nonce: undefined }),
  prepare("by a task hash, in upper case", { task_intent: null, task_hash: "AB".repeat(32) }),
  prepare("a task hash of another intent", { task_hash: "AB".repeat(32) }),
  prepare("by a task hash without intent", {
    task_intent: undefined,
    nonce: undefined,
    task_hash: "0f".repeat(32),
  }),
  prepare("an intent that is not ASCII", { task_intent: "İstanbul \u{1f9fe} ß" }),
  prepare("the least of each range", {
    amount_stroops: "1",
    ttl_seconds: 1,
    task_intent: "x",
    nonce: "y",
  }),
  prepare("the most of each range", {
    amount_stroops: "18446744073709551615",
    ttl_seconds: 604_800,
    nonce: "é".repeat(64),
  }),
  prepare("preflight=false", {}, "?preflight=false"),
  preflight("everything is well"),
  preflight("the balance is too small", { amount_stroops: "10000001" }),
  preflight("an account that is frozen", { agent_owner: OTHER_AGENT.address }),
  preflight("no token account, and a mint that is not supported", { mint: OTHER_MINT }),
  preflight("a suspended merchant", { merchant: SUSPENDED.wallet }),
  preflight("a merchant that is not registered", { merchant: STRANGER.address }),
  preflight("an escrow that exists", { nonce: undefined }),
  preflight("a payer who cannot pay", { payer: STRANGER.address }),
  preflight("an attestor that the merchant does not have", { attestor: AGENT.address }),
  prepare("with an attestor and a payer", { attestor: AGENT.address, payer: RICH.address }),
  prepare("members that are null", { task_hash: null, payer: null }),
  prepare("a whole transaction", {}, "?transaction=true"),
  prepare(
    "a whole transaction that somebody else pays",
    { payer: RICH.address },
    "?transaction=true",
  ),
  prepare(
    "a whole transaction, and the merchant is suspended",
    { merchant: SUSPENDED.wallet },
    "?transaction=true",
  ),
];

const notPrepared: ReadonlyArray<Exchange> = [
  prepare("neither hash nor intent", { task_intent: undefined }),
  prepare("a member too few", { merchant: undefined }),
  prepare("members of the wrong type", {
    amount_stroops: 1_500_000,
    ttl_seconds: "3600",
    nonce: null,
  }),
  prepare("an invalid address", { merchant: "O0Il" }),
  prepare("addresses of the wrong length", {
    agent_owner: "1".repeat(31),
    merchant: "1".repeat(33),
    mint: `1${MINT}`,
  }),
  prepare("a private key in the place of an address", {
    agent_owner: PRIVATE_KEY,
  }),
  prepare("an attestor of small order", {
    attestor: "4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM",
  }),
  prepare("an attestor that is null", { attestor: null }),
  prepare("an amount that is null", { amount_stroops: null }),
  prepare("a bad address beside a bad amount", { merchant: "O0Il", amount_stroops: "0" }),
  prepare("an amount of 2^64", { amount_stroops: "18446744073709551616" }),
  prepare("an amount with a leading zero", { amount_stroops: "01" }),
  prepare("a time to live of nothing", { ttl_seconds: 0 }),
  prepare("a time to live beyond seven days", { ttl_seconds: 604_801 }),
  prepare("a time to live with a fraction", { ttl_seconds: 1.5 }),
  prepare("a session that ends at a time", {
    session_key: SESSION_KEY.address,
    expires_at: "2026-03-01T13:01:00Z",
  }),
  preflight("a session that ends at a time", {
    session_key: SESSION_KEY.address,
    expires_at: "2026-03-01T13:01:00Z",
  }),
  prepare("an end that is now", { expires_at: "2026-03-01T12:01:00Z" }),
  prepare("an end beyond the time to live", { expires_at: "2026-03-01T13:01:01Z" }),
  preflight("an end beyond the time to live", { expires_at: "2026-03-01T13:01:01Z" }),
  prepare("an end that is no time", { expires_at: "tomorrow" }),
  prepare("a session key that is no address", { session_key: "O0Il" }),
  prepare("a session key of small order", {
    session_key: "4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM",
  }),
  prepare("a task hash that is too short", { task_hash: "00" }),
  prepare("an empty intent", { task_intent: "" }),
  prepare("an intent with a NUL", { task_intent: "a\0b" }),
  prepare("an intent that is too long", { task_intent: "x".repeat(4097) }),
  prepare("a nonce with half a character", { nonce: "\ud800" }),
  prepare("a nonce that is too long", { nonce: "é".repeat(65) }),
  prepare("preflight=yes", {}, "?preflight=yes"),
  { ...preflight("the ledger is down"), given: ledgerDown },
  { ...preflight("the ledger is slow"), given: ledgerSlow },
];

const read = (title: string, address: string, given?: Exchange["given"]) =>
  get("readEscrow", title, `/v1/escrows/${address}`, given === undefined ? {} : { given });

const reads: ReadonlyArray<Exchange> = [
  read("Pending", PENDING.address),
  read("Pending and expired", EXPIRED.address),
  read("Pending in its last second", PENDING.address, clockAt(PENDING.expiresAt - 1n)),
  read("Pending in the second of its expiry", PENDING.address, clockAt(PENDING.expiresAt)),
  read("Pending with the largest amount", LARGEST.address),
  read("Fulfilled", FULFILLED.address),
  read("Fulfilled, of a merchant that is not registered", OBSCURE.address),
  read("PartiallyFulfilled", PARTIAL.address),
  read("Refunded", REFUNDED.address),
  read("an invalid address", "O0Il"),
  read("a private key in the place of the address", PRIVATE_KEY),
  read("invalid percent-encoding", "%ff"),
  read("an encoded slash", "a%2Fb"),
  read("a tombstone", TOMBSTONE.address),
  read("no account", STRANGER.address),
  read("an account of lamports alone", ONLY_FUNDED.address),
  read("a token account", AGENT_TOKENS.address),
  read("a merchant account", MERCHANT.address),
  read("a broken escrow", BROKEN_ESCROW.address),
  read("archived, with a row in the index", FULFILLED.address, archivedNow(FULFILLED)),
  read("the ledger is down", PENDING.address, ledgerDown),
  read("the ledger is slow", PENDING.address, ledgerSlow),
];

/** What the operations on escrows answer. */
export const escrowExchanges: ReadonlyArray<Exchange> = [...prepared, ...notPrepared, ...reads];

/** What they answer when the beta's limits are enforced. */
export const escrowBetaExchanges: ReadonlyArray<Exchange> = [
  prepare("beta limits: within all of them", { amount_stroops: "100000000", ttl_seconds: 86_400 }),
  prepare("beta limits: beyond each of them", {
    amount_stroops: "100000001",
    ttl_seconds: 86_401,
    mint: OTHER_MINT,
  }),
  prepare("beta limits: beyond one of them", { amount_stroops: "100000001" }),
];
