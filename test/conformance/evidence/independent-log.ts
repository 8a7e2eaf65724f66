import { createHash } from "node:crypto";
import { strictlySigned } from "./independent-ed25519.ts";
import { asCreated, fromBase58, fromBase64, isSlot, need, object } from "./independent-form.ts";
import { type LogPolicies, type LogPolicy, isName } from "./independent-log-policy.ts";
import type { ObjectValue, Value } from "./independent-json.ts";

const sha256 = (...parts: ReadonlyArray<Uint8Array | string>): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** A packet's log reference as the independent verifier reads it. */
export type LogProofRead = {
  readonly origin: string;
  readonly index: bigint;
  readonly path: ReadonlyArray<Uint8Array>;
  /** What the log and its witnesses sign: the note's text with its last newline. */
  readonly text: string;
  readonly size: bigint;
  readonly root: Uint8Array;
  readonly signatures: ReadonlyArray<{ name: string; bytes: Uint8Array }>;
};

const whole = (text: string | undefined): bigint => {
  need(text !== undefined && /^(0|[1-9]\d*)$/.test(text) && text.length <= 16);
  const number = BigInt(text);
  need(number < 2n ** 53n);
  return number;
};

const hash32 = (text: string | undefined): Uint8Array => {
  const bytes = fromBase64(text);
  need(bytes.length === 32);
  return bytes;
};

const readOrigin = (origin: Value | undefined): string => {
  need(typeof origin === "string" && isName(origin));
  need(/^.+\/log\/[0-9a-f]{16}\/(0|[1-9]\d{0,5})$/s.test(origin));
  return origin;
};

const readSignature = (line: string): { name: string; bytes: Uint8Array } => {
  const words = line.split(" ");
  const [dash, name, blob] = words;
  need(words.length === 3 && dash === "\u2014" && name !== undefined && isName(name));
  const bytes = fromBase64(blob);
  need(bytes.length >= 5);
  return { name, bytes };
};

/** Reads `references.log` by docs/verify-evidence.md, "The log's proof". @throws Error */
export const readLogProof = (value: Value | undefined): LogProofRead | null => {
  if (value === null) return null;
  const log = object(value, "origin index proof");
  const origin = readOrigin(log.get("origin"));
  const [index, proof] = [log.get("index"), log.get("proof")];
  need(isSlot(index) && typeof proof === "string");
  const border = proof.indexOf("\n\n");
  need(border >= 0);
  const [first, second, ...hashes] = proof.slice(0, border).split("\n");
  need(first === "c2sp.org/tlog-proof@v1" && second?.startsWith("index ") === true);
  need(whole(second.slice("index ".length)) === index && hashes.length <= 63);
  const note = proof.slice(border + 2);
  for (const c of note) need(c === "\n" || c >= " ");
  const end = note.lastIndexOf("\n\n");
  need(end >= 0);
  const [text, rest] = [note.slice(0, end + 1), note.slice(end + 2)];
  const lines = text.split("\n");
  // Three lines, or four of the last checkpoint of a log.
  need(lines.length === 4 || lines.length === 5);
  if (lines.length === 5) need(lines[3] === "settlement-evidence log ended");
  need(lines.at(-1) === "" && lines[0] === origin);
  need(rest.endsWith("\n") && rest.length > 1);
  const signatures = rest.slice(0, -1).split("\n").map(readSignature);
  need(signatures.length <= 100);
  return {
    origin,
    index,
    path: hashes.map(hash32),
    text,
    size: whole(lines[1]),
    root: hash32(lines[2]),
    signatures,
  };
};

/** The root that a path leads to: RFC 6962's definition of PATH, read from the root down. @throws Error */
const rootFrom = (
  leaf: Uint8Array,
  index: bigint,
  size: bigint,
  path: ReadonlyArray<Uint8Array>,
): Uint8Array => {
  if (size === 1n) {
    need(path.length === 0);
    return leaf;
  }
  const last = path.at(-1);
  need(last !== undefined);
  let split = 1n;
  while (split * 2n < size) split *= 2n;
  const rest = path.slice(0, -1);
  const node = Uint8Array.of(1);
  return index < split
    ? sha256(node, rootFrom(leaf, index, split, rest), last)
    : sha256(node, last, rootFrom(leaf, index - split, size - split, rest));
};

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.from(a).equals(b);

/** Whether a key signed the note: false without a line of it. @throws Error for a line of it that does not verify */
const signedBy = (
  { signatures, text }: LogProofRead,
  key: { name: string; id: Uint8Array; publicKey: Uint8Array },
  message: (line: Uint8Array) => { signed: string; signature: Uint8Array },
): boolean => {
  if (key.publicKey.length !== 32) return false;
  const lines = signatures.filter(
    ({ name, bytes }) => name === key.name && sameBytes(bytes.subarray(0, 4), key.id),
  );
  for (const { bytes } of lines) {
    const { signed, signature } = message(bytes.subarray(4));
    need(strictlySigned(signature, Buffer.from(signed + text), key.publicKey));
  }
  return lines.length > 0;
};

const cosignature = (bytes: Uint8Array) => {
  need(bytes.length === 72);
  const time = Buffer.from(bytes).readBigUInt64BE(0);
  need(time > 0n && time < 2n ** 63n);
  return { signed: `cosignature/v1\ntime ${time}\n`, signature: bytes.subarray(8) };
};

/**
 * Whether a policy's quorum cosigned: false for `quorum none`. @throws Error for a line of a witness that does not
 * verify
 */
const cosigned = (proof: LogProofRead, policy: LogPolicy): boolean => {
  const done = new Set<string>();
  for (const { word, key } of policy.witnesses)
    if (signedBy(proof, key, cosignature)) done.add(word);
  for (const { word, least, members } of policy.groups)
    if (members.filter((member) => done.has(member)).length >= least) done.add(word);
  return done.has(policy.quorum);
};

/**
 * Whether the quorum that compared the log with the ledger vouches for the account of a valid packet.
 * @throws Error when the log does not, and for any line of log or witness that does not verify
 */
export const judgeLog = (
  proof: LogProofRead,
  { onLedger, appendOnly }: LogPolicies,
  data: ObjectValue,
): boolean => {
  const known = (onLedger ?? appendOnly)?.logs;
  if (known === undefined) return false;
  const logs = known.filter(({ name }) => name === proof.origin);
  const signed = logs.map((key) =>
    signedBy(proof, key, (signature) => ({ signed: "", signature })),
  );
  need(signed.includes(true));
  const network = data.get("network") as ObjectValue;
  const [genesis, custody] = ["genesis_hash", "custody_program"].map((name) =>
    fromBase58(network.get(name), 32),
  );
  const domain = sha256("settlement-evidence 3\0", genesis ?? "", custody ?? "");
  const id = sha256(Uint8Array.of(0), domain).toString("hex").slice(0, 16);
  need(proof.origin.split("/").at(-2) === id);
  const escrow = data.get("escrow") as ObjectValue;
  const number = (escrow.get("settled_seq") ?? escrow.get("created_seq")) as string;
  need(proof.index === BigInt(number) && proof.index < proof.size);
  const bytes = fromBase64((data.get("account") as ObjectValue).get("data_base64"));
  const leaf = Buffer.concat([
    Uint8Array.of(1, bytes[10] ?? 9),
    fromBase58(escrow.get("escrow_pda"), 32),
    // What was captured while Pending leaves no leaf.
    sha256(bytes[10] === 0 ? asCreated(bytes) : bytes),
  ]);
  const root = rootFrom(sha256(Uint8Array.of(0), leaf), proof.index, proof.size, proof.path);
  need(sameBytes(root, proof.root));
  if (appendOnly !== null) cosigned(proof, appendOnly);
  return onLedger !== null && cosigned(proof, onLedger);
};
