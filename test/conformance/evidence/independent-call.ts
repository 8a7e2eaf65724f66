import { createHash } from "node:crypto";
import { strictlySigned } from "./independent-ed25519.ts";
import {
  asCreated,
  base58,
  fromBase58,
  fromBase64,
  need,
  object,
  strictText,
} from "./independent-form.ts";
import { type ObjectValue, readJson, type Value, writeCanonical } from "./independent-json.ts";
import { verifyIndependently } from "./independent-verifier.ts";

/** A call's order in words: a request and the digest of its body. */
const INTENT = /^[A-Z]{1,16} https?:\/\/[\x21\x22\x24-\x7e]+ sha256:[0-9a-f]{64}$/;

const sha256 = (...parts: ReadonlyArray<Uint8Array | string>): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** Bytes of exactly one length, in base64. @throws Error */
export const sized = (value: Value | undefined, length: number): Buffer => {
  const bytes = Buffer.from(fromBase64(value));
  need(bytes.length === length);
  return bytes;
};

/** A path's hashes, the leaf's sibling first. @throws Error */
const hashes = (value: Value | undefined): ReadonlyArray<Buffer> => {
  const bytes = Buffer.from(fromBase64(value));
  need(bytes.length % 32 === 0);
  return Array.from({ length: bytes.length / 32 }, (_, i) => bytes.subarray(i * 32, i * 32 + 32));
};

/** Whether a path leads from a leaf at an index to the root of a tree of `size` leaves (RFC 9162, section 2.1.3.2). */
const leads = (
  leaf: Uint8Array,
  path: ReadonlyArray<Uint8Array>,
  index: number,
  tree: { readonly size: number; readonly root: Uint8Array },
): boolean => {
  if (index < 0 || index >= tree.size) return false;
  let [at, last] = [index, tree.size - 1];
  let hash = sha256("\0", leaf);
  for (const sibling of path) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      hash = sha256("\x01", sibling, hash);
      while (at !== 0 && at % 2 === 0) [at, last] = [at >>> 1, last >>> 1];
    } else hash = sha256("\x01", hash, sibling);
    [at, last] = [at >>> 1, last >>> 1];
  }
  return last === 0 && hash.equals(tree.root);
};

const readDelivery = (value: Value | undefined) => {
  const members = object(value, "leaf_base64 path_base64");
  const leaf = sized(members.get("leaf_base64"), 88);
  return {
    leaf,
    path: hashes(members.get("path_base64")),
    price: leaf.readBigUInt64LE(64),
    totalAfter: leaf.readBigUInt64LE(72),
  };
};

/** The file's members, of the right form. @throws Error */
const readCall = (file: Uint8Array) => {
  need(file.length <= 131_072);
  const whole = object(
    readJson(strictText(file)),
    "version packet voucher_base64 intent order_path_base64 delivered before attestation_base64 payload",
  );
  const [packet, intent, attestation, before, payload] = [
    "packet",
    "intent",
    "attestation_base64",
    "before",
    "payload",
  ].map((name) => whole.get(name) ?? null);
  need(whole.get("version") === "settlement-evidence-call-v1");
  need(packet instanceof Map);
  need(intent === null || typeof intent === "string");
  need(payload === null || payload instanceof Map);
  const voucher = sized(whole.get("voucher_base64"), 176);
  need(voucher.subarray(0, 8).equals(Buffer.from("sevouch3")));
  need((voucher[84] ?? 2) <= 1 && voucher.subarray(85, 88).every((byte) => byte === 0));
  need(voucher[84] === 0 || voucher.subarray(88, 112).every((byte) => byte === 0));
  const attested = attestation === null ? null : sized(attestation, 120);
  if (attested !== null)
    need((attested[52] ?? 2) <= 1 && attested.subarray(53, 56).every((byte) => byte === 0));
  return {
    packet,
    intent,
    payload,
    voucher,
    attested,
    orderPath: hashes(whole.get("order_path_base64")),
    delivered: readDelivery(whole.get("delivered")),
    before: before === null ? null : readDelivery(before),
  };
};

type Call = ReturnType<typeof readCall>;

/** What a verified packet says of its session. */
export const readSession = (packet: ObjectValue) => {
  const data = packet.get("data") as ObjectValue;
  const network = data.get("network") as ObjectValue;
  const bytes = Buffer.from(fromBase64((data.get("account") as ObjectValue).get("data_base64")));
  const escrow = (data.get("escrow") as ObjectValue).get("escrow_pda");
  const domain = sha256(
    "settlement-evidence 3\0",
    fromBase58(network.get("genesis_hash"), 32),
    fromBase58(network.get("custody_program"), 32),
  );
  return { bytes, escrow, domain, terms: sha256(asCreated(bytes)) };
};

/** What a packet says of its session: the account's bytes, and what signatures name. */
export type IndependentSession = ReturnType<typeof readSession>;

const isOrdered = (
  { voucher, intent, orderPath, delivered }: Call,
  session: IndependentSession,
): boolean => {
  const [count, limit] = [voucher.readUInt32LE(80), voucher.subarray(88, 96)];
  const orders = voucher.subarray(40, 72);
  const message = Buffer.concat([
    Buffer.from("voucher3"),
    session.domain,
    session.terms,
    orders,
    voucher.subarray(72, 88),
  ]);
  const task = delivered.leaf.subarray(0, 32);
  const nonce = voucher.subarray(96, 112);
  if (base58(voucher.subarray(8, 40)) !== session.escrow || voucher[84] !== 0) return false;
  if (!strictlySigned(voucher.subarray(112), message, session.bytes.subarray(368, 400)))
    return false;
  if (!leads(Buffer.concat([task, limit]), orderPath, count - 1, { size: count, root: orders }))
    return false;
  if (intent !== null && (intent.length > 4096 || !INTENT.test(intent))) return false;
  return intent === null || sha256(intent, "\0", nonce.toString("hex")).equals(task);
};

/** The attested tree and its total: the account's, or the file's own where the attestor signed it; null otherwise. */
const attestedTree = ({ attested }: Call, { bytes, domain, terms }: IndependentSession) => {
  if (attested === null) {
    const total = bytes.readBigUInt64LE(184);
    return total === 0n
      ? null
      : { size: bytes.readUInt32LE(12), root: bytes.subarray(216, 248), total };
  }
  const message = Buffer.concat([Buffer.from("attest 3"), domain, terms, attested.subarray(0, 56)]);
  if (!strictlySigned(attested.subarray(56), message, bytes.subarray(248, 280))) return null;
  return {
    size: attested.readUInt32LE(48),
    root: attested.subarray(0, 32),
    total: attested.readBigUInt64LE(32),
  };
};

type Tree = NonNullable<ReturnType<typeof attestedTree>>;

const isPriced = ({ voucher, delivered, before }: Call, tree: Tree): boolean => {
  const count = voucher.readUInt32LE(80);
  const { price, totalAfter } = delivered;
  if (price > voucher.readBigUInt64LE(88)) return false;
  if (totalAfter > voucher.readBigUInt64LE(72) || totalAfter > tree.total) return false;
  if ((before === null) !== (count === 1)) return false;
  if (before === null) return totalAfter === price;
  if (before.totalAfter + price !== totalAfter) return false;
  return leads(before.leaf, before.path, count - 2, tree);
};

/** Whether a payload has no number that it may not have: docs/evidence.md, "Proof hash". */
const isReadableOneWay = (value: Value): boolean => {
  if (typeof value === "number") return Math.abs(value) < 2 ** 53;
  if (value === null || typeof value !== "object") return true;
  return [...value.values()].every(isReadableOneWay);
};

const isPayloadOf = (payload: ObjectValue, { delivered, intent }: Call): boolean => {
  if (!sha256(writeCanonical(payload)).equals(delivered.leaf.subarray(32, 64))) return false;
  if (!isReadableOneWay(payload)) return false;
  const [task, url] = [payload.get("task_hash"), payload.get("request_url")];
  if (task !== undefined && task !== delivered.leaf.toString("hex", 0, 32)) return false;
  return url === undefined || intent === null || url === intent.split(" ")[1];
};

/** What the second verifier says of a call's file. */
export type IndependentCallVerdict = {
  readonly verdict: "verified" | "untrusted" | "failed" | "refused" | "unsupported_version";
  /** The failed checks of the call; null where its packet does not verify, for then they say nothing. */
  readonly failed: ReadonlyArray<string> | null;
  /** What vouches for the payment of a call that verifies: the account, or the attestor's word alone. */
  readonly settlement: "paid" | "attested" | null;
};

/**
 * A second verifier of the evidence of a call, written from docs/verify-evidence.md, "Evidence of a call", and
 * docs/protocol.md: it shares no code with the first.
 */
export const verifyCallIndependently = async (
  file: Uint8Array,
  policy: Uint8Array | null,
): Promise<IndependentCallVerdict> => {
  let call: Call;
  try {
    call = readCall(file);
  } catch {
    return { verdict: "failed", failed: ["call_form"], settlement: null };
  }
  const { verdict } = await verifyIndependently(Buffer.from(writeCanonical(call.packet)), policy);
  if (verdict !== "verified" && verdict !== "untrusted")
    return { verdict, failed: null, settlement: null };
  const session = readSession(call.packet);
  if (session.bytes.subarray(368, 400).every((byte) => byte === 0))
    return { verdict: "failed", failed: ["call_session"], settlement: null };
  const tree = attestedTree(call, session);
  const { voucher, delivered, payload } = call;
  const passes: ReadonlyArray<readonly [string, boolean]> = [
    ["call_order", isOrdered(call, session)],
    [
      "call_inclusion",
      tree !== null && leads(delivered.leaf, delivered.path, voucher.readUInt32LE(80) - 1, tree),
    ],
    ["call_price", tree === null || isPriced(call, tree)],
    ["call_payload", tree === null || payload === null || isPayloadOf(payload, call)],
  ];
  const failed = passes.filter(([, holds]) => !holds).map(([name]) => name);
  if (failed.length > 0) return { verdict: "failed", failed, settlement: null };
  // What a Pending account (state 0 at byte 10) shows as captured is proved by a node alone.
  const isPaid = call.attested === null && session.bytes[10] !== 0;
  return { verdict, failed, settlement: isPaid ? "paid" : "attested" };
};
