import { createHash } from "node:crypto";
import { address, getAddressEncoder, getProgramDerivedAddress } from "@solana/kit";
import { strictlySigned } from "./independent-ed25519.ts";
import {
  asCreated,
  base58,
  fromBase58,
  fromBase64,
  isOneOf,
  isSlot,
  need,
  object,
  strictText,
} from "./independent-form.ts";
import { judgeLog, readLogProof } from "./independent-log.ts";
import { type Policy, readPolicy } from "./independent-policy.ts";
import { type ObjectValue, readJson, type Value, writeCanonical } from "./independent-json.ts";

const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const ASSOCIATED_TOKEN = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
const TYPE = "application/vnd.settlement-evidence.v2+json";
const PURPOSE =
  "Audit packet for post-payment delivery settlement state: what the merchant's attestor asserted and what the ledger did with the payment. It does not say that anything was delivered.";
const VERIFICATION =
  "Ed25519 attestation from a registered merchant key. The ledger releases an escrow only with one; it checks the signature and its time, never the delivery itself.";
const KINDS = ["escrow_created", "escrow_released", "escrow_partially_released", "escrow_refunded"];

const sha256 = (...parts: ReadonlyArray<Uint8Array | string>) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

const time = (seconds: bigint): string =>
  new Date(Number(seconds) * 1000).toISOString().replace(".000Z", "Z");

const derive = async (program: string, seeds: ReadonlyArray<Uint8Array | string>) => {
  const [found, bump] = await getProgramDerivedAddress({
    programAddress: address(program),
    seeds: seeds.map((seed) => (typeof seed === "string" ? seed : Uint8Array.from(seed))),
  });
  return { address: found as string, bump: BigInt(bump) };
};

/** The references' form, and the log's proof among them; no check relies on the others. */
const readReferences = (value: Value | undefined) => {
  const references = object(value, "transactions merchant observed archived log not_found");
  const { transactions, notFound } = {
    transactions: references.get("transactions"),
    notFound: references.get("not_found"),
  };
  need(Array.isArray(transactions) && Array.isArray(notFound));
  const seen = transactions.map((each): Value => {
    const transaction = object(each, "signature slot kind");
    fromBase58(transaction.get("signature"), 64);
    need(isSlot(transaction.get("slot")) && isOneOf(transaction.get("kind"), KINDS));
    return transaction.get("kind") ?? null;
  });
  for (const each of notFound) need(isOneOf(each, ["merchant", ...KINDS]));
  need(new Set([...seen, ...notFound]).size === seen.length + notFound.length);
  if (references.get("merchant") !== null) {
    const merchant = object(references.get("merchant"), "name status current_attestor");
    const name = merchant.get("name");
    need(typeof name === "string" && Buffer.byteLength(name) <= 32);
    need(!notFound.includes("merchant"));
    need(merchant.get("status") === "Active" || merchant.get("status") === "Suspended");
    fromBase58(merchant.get("current_attestor"), 32);
  }
  if (references.get("observed") !== null) {
    const observed = object(references.get("observed"), "slot commitment");
    need(isSlot(observed.get("slot")) && observed.get("commitment") === "finalized");
  }
  if (references.get("archived") !== null) {
    const digest = object(references.get("archived"), "digest").get("digest");
    need(typeof digest === "string" && /^[0-9a-f]{64}$/.test(digest));
  }
  return readLogProof(references.get("log"));
};

/** Checks digest and service signature. Returns the key's bytes and id, null for an unsigned packet. */
const readSignature = (value: Value | undefined, data: Value) => {
  const signature = object(value, "status digest_sha256 algorithm key_id public_key signature");
  const body = Buffer.from(writeCanonical(data));
  need(signature.get("algorithm") === "ed25519");
  need(signature.get("digest_sha256") === sha256(body).toString("hex"));
  const [id, key, bytes] = ["key_id", "public_key", "signature"].map((name) => signature.get(name));
  if (signature.get("status") === "unsigned") {
    need(id === null && key === null && bytes === null);
    return null;
  }
  need(signature.get("status") === "signed");
  const publicKey = fromBase64(key);
  const x = Buffer.from(publicKey).toString("base64url");
  need(id === sha256(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).toString("base64url"));
  const signed = Buffer.concat([
    Buffer.from(`DSSEv1 ${TYPE.length} ${TYPE} ${body.length} `),
    body,
  ]);
  need(strictlySigned(fromBase64(bytes), signed, publicKey));
  return { id, x };
};

/** The expected `data`, member by member, from the account's bytes and the date of a pending packet. */
const rebuild = async (data: ObjectValue): Promise<Value> => {
  const network = object(
    data.get("network"),
    "cluster genesis_hash custody_program attestor_program",
  );
  const [custody, attestor] = ["custody_program", "attestor_program"].map((name) => {
    fromBase58(network.get(name), 32);
    return network.get(name) as string;
  });
  need(custody !== undefined && attestor !== undefined);
  need(typeof network.get("cluster") === "string");
  fromBase58(network.get("genesis_hash"), 32);
  const account = object(data.get("account"), "owner data_base64");
  need(account.get("owner") === custody);
  const bytes = Buffer.from(fromBase64(account.get("data_base64")));
  need(bytes.length === 416);
  need(bytes.subarray(0, 8).equals(sha256("account:Escrow").subarray(0, 8)));
  need(bytes[8] === 3 && bytes.subarray(401, 408).every((byte) => byte === 0));
  const state = ["Pending", "Fulfilled", "Refunded", "PartiallyFulfilled"][bytes[10] ?? 9];
  need(state !== undefined);
  const key = (at: number) => base58(bytes.subarray(at, at + 32));
  const hash = (at: number) => bytes.subarray(at, at + 32).toString("hex");
  const [amount, released] = [bytes.readBigUInt64LE(176), bytes.readBigUInt64LE(184)];
  const [created, expires, settled] = [192, 200, 208].map((at) => bytes.readBigInt64LE(at));
  need(created !== undefined && expires !== undefined && settled !== undefined);
  const pending = state === "Pending";
  const paid = released > 0n;
  const by = [null, "release", "refund", "cancel"][bytes[400] ?? 9];
  const session = bytes.subarray(368, 400).some((byte) => byte !== 0);
  const [deliveries, closes] = [bytes.readUInt32LE(12), bytes.readBigInt64LE(408)];
  const end = closes === 0n ? expires : closes;
  need(by !== undefined && pending === (by === null) && (by !== "release" || paid));
  need(closes === 0n || (session && closes > created && closes <= expires));
  need(closes === 0n || closes === expires || closes >= created + 900n);
  // The first second of the clock at which the ledger can have been so.
  let from = created;
  if (closes !== 0n && closes - 900n > from) from = closes - 900n;
  if (paid && bytes.readBigInt64LE(280) - 30n > from) from = bytes.readBigInt64LE(280) - 30n;
  need(deliveries === 0 || paid);
  if (!session) need(paid === (by === "release") && deliveries === (paid ? 1 : 0));
  const last = BigInt(Date.parse("9999-12-31T23:59:59Z") / 1000);
  need(
    created >= 0n && expires <= last && expires - created >= 1n && expires - created <= 604_800n,
  );
  need(amount > 0n && released <= amount && (settled === 0n) === pending);
  if (!pending) {
    need(
      state ===
        (released === 0n ? "Refunded" : released === amount ? "Fulfilled" : "PartiallyFulfilled"),
    );
    need(settled >= from && settled <= last && settled >= end === (by === "refund"));
  }
  const [createdSeq, settledSeq] = [bytes.readBigUInt64LE(352), bytes.readBigUInt64LE(360)];
  need(createdSeq > 0n && (pending ? settledSeq === 0n : settledSeq > createdSeq));
  need(bytes.subarray(248, 280).some((byte) => byte !== 0));
  const derived = await derive(custody, [
    "escrow",
    bytes.subarray(16, 48),
    bytes.subarray(144, 176),
  ]);
  const escrow = data.get("escrow");
  need(escrow instanceof Map && escrow.get("escrow_pda") === derived.address);
  need(derived.bump === BigInt(bytes[9] ?? -1));

  let claim: Value = new Map<string, Value>(
    ["proof_hash", "attestor", "attested_at", "attestation", "claim"].map((name) => [name, null]),
  ).set("verification", VERIFICATION);
  if (paid) {
    const attested = bytes.readBigInt64LE(280);
    need(attested >= created && attested < end + (by === "release" ? 0n : 30n));
    need(attested <= last && (by !== "release" || settled <= attested + 300n));
    const genesis = network.get("genesis_hash");
    need(typeof genesis === "string");
    const message = Buffer.concat([
      Buffer.from("attest 3"),
      sha256(
        Buffer.from("settlement-evidence 3\0"),
        fromBase58(genesis, 32),
        fromBase58(custody, 32),
      ),
      sha256(asCreated(bytes)),
      bytes.subarray(216, 248),
      bytes.subarray(184, 192),
      bytes.subarray(280, 288),
      bytes.subarray(12, 16),
      Buffer.from([by === "release" ? 1 : 0, 0, 0, 0]),
    ]);
    need(strictlySigned(bytes.subarray(288, 352), message, bytes.subarray(248, 280)));
    claim = new Map<string, Value>([
      ["proof_hash", hash(216)],
      ["verification", VERIFICATION],
      ["attestor", key(248)],
      ["attested_at", time(attested)],
      [
        "attestation",
        new Map([
          ["message_hex", message.toString("hex")],
          ["signature", bytes.subarray(288, 352).toString("base64")],
          ["public_key", key(248)],
        ]),
      ],
      ["claim", "asserted by the merchant's attestor"],
    ]);
  } else
    for (const [from, to] of [
      [216, 248],
      [280, 352],
    ] as const)
      need(bytes.subarray(from, to).every((byte) => byte === 0));

  let refundable = false;
  let asOf: Value = null;
  if (pending) {
    const given = object(data.get("as_of"), "slot ledger_time");
    const named = given.get("ledger_time");
    need(typeof named === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(named));
    const seconds = BigInt(Date.parse(named) / 1000);
    need(time(seconds) === named && seconds >= from && isSlot(given.get("slot")));
    refundable = seconds >= end;
    asOf = given;
  }
  const refunded = pending ? 0n : amount - released;
  const [status, reason] = {
    Pending: ["pending", refundable ? "ttl_expired_refund_available" : "awaiting_delivery_proof"],
    Fulfilled: ["released", "merchant_delivery_proof_verified"],
    PartiallyFulfilled: ["released", "merchant_partial_delivery_proof_verified"],
    Refunded: [
      "refunded",
      by === "cancel"
        ? "merchant_cancelled"
        : closes === 0n
          ? "ttl_expired_without_delivery_proof"
          : "session_closed_without_delivery_proof",
    ],
  }[state] as [string, string];
  const encoder = getAddressEncoder();
  const vault = await derive(ASSOCIATED_TOKEN, [
    Uint8Array.from(encoder.encode(address(derived.address))),
    Uint8Array.from(encoder.encode(address(TOKEN_PROGRAM))),
    bytes.subarray(80, 112),
  ]);
  need(vault.bump === BigInt(bytes[11] ?? -1));
  const merchant = await derive(attestor, ["merchant", bytes.subarray(48, 80)]);
  const settledAt = pending ? null : time(settled);
  return new Map<string, Value>([
    ["version", "settlement-evidence-v2"],
    ["purpose", PURPOSE],
    ["network", network],
    [
      "escrow",
      new Map<string, Value>([
        ["escrow_pda", derived.address],
        ["bump", derived.bump],
        ["state", state],
        ["agent_owner", key(16)],
        ["merchant", key(48)],
        ["merchant_pda", merchant.address],
        ["mint", key(80)],
        ["vault_token_account", vault.address],
        ["rent_payer", key(112)],
        ["attestor", key(248)],
        ["session_key", session ? key(368) : null],
        ["task_hash", hash(144)],
        ["amount_stroops", amount.toString()],
        ["released_stroops", released.toString()],
        ["refunded_stroops", refunded.toString()],
        ["deliveries", BigInt(deliveries)],
        ["created_at", time(created)],
        ["expires_at", time(expires)],
        ["closes_at", closes === 0n ? null : time(closes)],
        ["settled_at", settledAt],
        ["settled_by", by ?? null],
        ["created_seq", createdSeq.toString()],
        ["settled_seq", pending ? null : settledSeq.toString()],
      ]),
    ],
    ["account", account],
    ["delivery_claim", claim],
    [
      "settlement_decision",
      new Map<string, Value>([
        ["status", status],
        ["reason", reason],
        ["settled_at", settledAt],
      ]),
    ],
    ["as_of", asOf],
  ]);
};

type Shown = { readonly mintListed: boolean; readonly witnessed: boolean };

/** What the policy says of a valid packet. @throws Error for an invalid packet */
const judge = async (packet: Uint8Array, policy: Policy | null): Promise<Shown> => {
  need(packet.length <= 65_536);
  const whole = object(readJson(strictText(packet)), "data signature references");
  const proof = readReferences(whole.get("references"));
  const data = whole.get("data");
  need(data instanceof Map);
  need(writeCanonical(await rebuild(data)) === writeCanonical(data));
  const key = readSignature(whole.get("signature"), data);
  if (policy === null) return { mintListed: false, witnessed: false };
  need(key !== null);
  const { keys, network, mints } = policy;
  need(keys.some(({ kid, x }) => kid === key.id && x === key.x));
  need(!keys.some(({ kid, x, status }) => status === "revoked" && (kid === key.id || x === key.x)));
  const named = data.get("network") as ObjectValue;
  for (const name of ["cluster", "genesis_hash", "custody_program", "attestor_program"])
    need(named.get(name) === network.get(name));
  const { mint } = Object.fromEntries(data.get("escrow") as ObjectValue);
  const witnessed = proof !== null && judgeLog(proof, policy.log, data);
  return { mintListed: mints.includes(mint as string), witnessed };
};

/** The second verifier's verdict; `refused` when the policy document is malformed. */
export type IndependentVerdict = {
  readonly verdict: "verified" | "untrusted" | "failed" | "refused" | "unsupported_version";
  /** Whether the policy lists the packet's mint, null when a check of the packet failed. */
  readonly mintListed: boolean | null;
  /**
   * Whether the witnesses that compared the log with the ledger vouch for the account, null when a check of the packet
   * failed.
   */
  readonly witnessed: boolean | null;
};

/** Whether a text is a packet of another version of the format, by what its `data` says alone. */
const isOfOtherVersion = (packet: Uint8Array): boolean => {
  try {
    need(packet.length <= 65_536);
    const whole = readJson(strictText(packet));
    const data = whole instanceof Map ? whole.get("data") : null;
    const version = data instanceof Map ? data.get("version") : null;
    need(typeof version === "string" && /^settlement-evidence-v[1-9]\d*$/.test(version));
    return version !== "settlement-evidence-v2";
  } catch {
    return false;
  }
};

/**
 * A second verifier of evidence packets, written from docs/verify-evidence.md with node:crypto and kit alone: it
 * shares no code with the first.
 */
export const verifyIndependently = async (
  packet: Uint8Array,
  policyDocument: Uint8Array | null,
): Promise<IndependentVerdict> => {
  let policy: Policy | null;
  try {
    policy = policyDocument === null ? null : readPolicy(policyDocument);
  } catch {
    return { verdict: "refused", mintListed: null, witnessed: null };
  }
  try {
    const shown = await judge(packet, policy);
    return { verdict: policy === null ? "untrusted" : "verified", ...shown };
  } catch {
    const verdict = isOfOtherVersion(packet) ? "unsupported_version" : "failed";
    return { verdict, mintListed: null, witnessed: null };
  }
};
