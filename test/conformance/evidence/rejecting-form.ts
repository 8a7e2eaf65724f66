import { padded, type Vector, withMerchantName } from "./accepting-vectors.ts";
import { type Draft, goldenDraft, inside, lie, type PacketDraft } from "./packet-edits.ts";

const rejects = (name: string, why: string, packet: string): Vector => ({
  name,
  why,
  packet,
  failed_checks: ["form"],
  without_policy: "failed",
});

const bytes = (name: string, why: string, packet: Uint8Array): Vector => ({
  name,
  why,
  packet_base64: Buffer.from(packet).toString("base64"),
  failed_checks: ["form"],
  without_policy: "failed",
});

const changed = (change: (packet: PacketDraft) => void, name = "fulfilled"): string => {
  const packet = goldenDraft(name);
  change(packet);
  return JSON.stringify(packet);
};

const without = (draft: Draft, name: string): void => {
  delete draft[name];
};

/** Replaces text that must occur exactly once. */
const replaced = (text: string, from: string, to: string): string => {
  if (text.split(from).length !== 2) throw new Error(`${from} stands not once in the packet`);
  return text.replace(from, () => to);
};

/** Base64 of 64 bytes with one of the four unused bits set. */
const strayBits = (text: string): string => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const at = text.indexOf("=") - 1;
  return (
    text.slice(0, at) + alphabet.charAt(alphabet.indexOf(text.charAt(at)) + 1) + text.slice(at + 1)
  );
};

const jsonText = (): ReadonlyArray<Vector> => {
  const text = JSON.stringify(goldenDraft());
  const pending = JSON.stringify(goldenDraft("pending"));
  const utf8 = new TextEncoder().encode(text);
  const at = text.indexOf("Example Quotes");
  return [
    rejects("empty", "no text at all", ""),
    rejects("cut-short", "the last brace is missing", text.slice(0, -1)),
    rejects("something-behind", "a second value behind the packet", `${text}{}`),
    rejects("zero-behind", "U+0000 behind the packet", `${text}\0`),
    bytes("byte-order-mark", "EF BB BF before it", Uint8Array.from([0xef, 0xbb, 0xbf, ...utf8])),
    bytes("not-utf8", "a name with the byte FF", utf8.with(at, 0xff)),
    bytes(
      "overlong-utf8",
      "a letter as two bytes, C1 85",
      Uint8Array.from([...utf8.subarray(0, at), 0xc1, 0x85, ...utf8.subarray(at + 1)]),
    ),
    rejects("array", "an array around the packet", `[${text}]`),
    rejects("comment", "a comment, which JSON has not", `${text}//`),
    rejects("single-quotes", "strings in single quotes", text.replaceAll('"', "'")),
    rejects("comma-at-the-end", "a comma behind the last member", `${text.slice(0, -1)},}`),
    rejects("bump-1.0", "an integer with a fraction", text.replace(/"bump":(\d+)/, '"bump":$1.0')),
    rejects(
      "bump-exponent",
      "an integer with an exponent",
      text.replace(/"bump":(\d+)/, '"bump":$1e0'),
    ),
    rejects("bump-text", "an integer with a leading zero", text.replace(/"bump":/, '"bump":0')),
    rejects("minus-zero", "a slot of -0", pending.replaceAll(/"slot":\d+/g, '"slot":-0')),
    rejects(
      "slot-beyond-2^53",
      "a slot that JSON does not carry exactly",
      lie((data) => void (inside(data, "as_of")["slot"] = 2 ** 53), "pending"),
    ),
    rejects(
      "slot-negative",
      "a slot of -1",
      lie((data) => void (inside(data, "as_of")["slot"] = -1), "pending"),
    ),
    rejects(
      "lone-surrogate",
      "a name with a lone surrogate",
      replaced(text, "Example Quotes", "\\ud800"),
    ),
    rejects(
      "member-twice",
      "status twice in signature",
      replaced(text, '"signature":{"status', '"signature":{"status":"signed","status'),
    ),
    rejects(
      "member-twice-escaped",
      "status twice in signature, once written st\\u0061tus",
      replaced(text, '"signature":{"status', '"signature":{"st\\u0061tus":"signed","status'),
    ),
    rejects("data-twice", "two members data", replaced(text, '{"data":', '{"data":{},"data":')),
    rejects(
      "proto-member",
      "an unknown member __proto__",
      replaced(text, '{"data":', '{"__proto__":{},"data":'),
    ),
    rejects("far-too-long", "65,537 bytes", text.padEnd(65_537)),
    rejects(
      "far-too-long-in-bytes",
      "65,537 bytes, which are 65,521 characters",
      padded(withMerchantName("é".repeat(16)), 65_537),
    ),
  ];
};

const members = (): ReadonlyArray<Vector> => [
  ...(["data", "signature", "references"] as const).flatMap((part) => [
    rejects(
      `${part}-missing`,
      `no member ${part}`,
      changed((packet) => without(packet, part)),
    ),
    rejects(
      `${part}-null`,
      `${part} is null`,
      changed((packet) => void Object.assign(packet, { [part]: null })),
    ),
    rejects(
      `${part}-unknown-member`,
      `an unknown member in ${part}`,
      changed((packet) => void (packet[part]["note"] = "")),
    ),
  ]),
  rejects(
    "unknown-member",
    "an unknown member beside data",
    changed((packet) => void Object.assign(packet, { note: "" })),
  ),
  ...["network", "account", "as_of"].map((name) =>
    rejects(
      `${name}-unknown-member`,
      `an unknown member in data.${name}`,
      lie((data) => void (inside(data, name)["note"] = ""), "pending"),
    ),
  ),
  ...["purpose", "delivery_claim", "settlement_decision"].map((name) =>
    rejects(
      `${name.replaceAll("_", "-")}-missing`,
      `no data.${name}`,
      lie((data) => without(data, name)),
    ),
  ),
  ...([null, [], {}] as const).map((value) =>
    rejects(
      `escrow-${value === null ? "null" : Array.isArray(value) ? "array" : "without-address"}`,
      `data.escrow is ${JSON.stringify(value)}`,
      lie((data) => void (data["escrow"] = value)),
    ),
  ),
  rejects(
    "version-missing",
    "no data.version",
    lie((data) => without(data, "version")),
  ),
  rejects(
    "no-version-of-the-format",
    "version settlement-evidence-2",
    lie((data) => void (data["version"] = "settlement-evidence-2")),
  ),
  rejects(
    "genesis-not-32-bytes",
    "a genesis hash of another length",
    lie((data) => void (inside(data, "network")["genesis_hash"] = "1111")),
  ),
  rejects(
    "time-with-fraction",
    "a time with a fraction of a second",
    lie(
      (data) => void (inside(data, "as_of")["ledger_time"] = "2026-09-01T12:01:00.000Z"),
      "pending",
    ),
  ),
  rejects(
    "time-with-offset",
    "a time with an offset in place of Z",
    lie(
      (data) => void (inside(data, "as_of")["ledger_time"] = "2026-09-01T12:01:00+00:00"),
      "pending",
    ),
  ),
  rejects(
    "no-such-day",
    "the 31st of September",
    lie((data) => void (inside(data, "as_of")["ledger_time"] = "2026-09-31T12:01:00Z"), "pending"),
  ),
];

const signature = (): ReadonlyArray<Vector> => {
  const given = goldenDraft().signature["signature"] as string;
  const with_ = (member: string, value: string | null): string =>
    changed((packet) => void (packet.signature[member] = value));
  return [
    rejects("algorithm-eddsa", "algorithm is EdDSA", with_("algorithm", "EdDSA")),
    rejects("algorithm-none", "algorithm is none", with_("algorithm", "none")),
    rejects("status-unknown", "status is valid", with_("status", "valid")),
    rejects("unsigned-with-key", "unsigned, and yet with a signature", with_("status", "unsigned")),
    rejects(
      "signed-without-key",
      "signed, and yet without a public key",
      with_("public_key", null),
    ),
    rejects(
      "signature-63-bytes",
      "a signature cut short",
      with_("signature", Buffer.from(given, "base64").subarray(0, 63).toString("base64")),
    ),
    rejects(
      "base64-without-padding",
      "base64 without its padding",
      with_("signature", given.replaceAll("=", "")),
    ),
    rejects(
      "base64-stray-bits",
      "base64 with bits set that carry nothing",
      with_("signature", strayBits(given)),
    ),
    rejects(
      "base64-white-space",
      "base64 with a line break",
      with_("signature", `${given.slice(0, 64)}\n${given.slice(64)}`),
    ),
  ];
};

const references = (): ReadonlyArray<Vector> => {
  const signatureText =
    (goldenDraft().references["transactions"] as ReadonlyArray<Draft>)[0]?.["signature"] ?? null;
  const with_ = (change: Draft): string =>
    changed((packet) => void Object.assign(packet.references, change));
  const transaction = { signature: signatureText, slot: 1, kind: "escrow_created" };
  return [
    rejects(
      "merchant-status-unknown",
      "a merchant status that does not exist",
      changed((packet) => void (inside(packet.references, "merchant")["status"] = "Trusted")),
    ),
    rejects(
      "merchant-name-33-bytes",
      "a merchant's name of 33 bytes, which are 17 characters",
      withMerchantName(`${"é".repeat(16)}.`),
    ),
    rejects(
      "merchant-found-and-not-found",
      "a merchant that could not be found",
      with_({ not_found: ["merchant"] }),
    ),
    rejects(
      "merchant-twice-not-found",
      "merchant twice in not_found",
      with_({ merchant: null, not_found: ["merchant", "merchant"] }),
    ),
    rejects("not-found-null", "null where a list can be empty", with_({ not_found: null })),
    rejects(
      "transaction-twice",
      "two transactions of one kind",
      with_({ transactions: [transaction, transaction], not_found: [] }),
    ),
    rejects(
      "found-and-not-found",
      "a transaction that could not be found",
      with_({ transactions: [transaction], not_found: ["escrow_created"] }),
    ),
    rejects(
      "transaction-signature-short",
      "a transaction with a signature of 32 bytes",
      with_({ transactions: [{ ...transaction, signature: "11111111111111111111111111111111" }] }),
    ),
    rejects(
      "observed-confirmed",
      "observed at another commitment than finalized",
      with_({ observed: { slot: 1, commitment: "confirmed" } }),
    ),
    rejects(
      "archived-missing",
      "no references.archived",
      changed((packet) => without(packet.references, "archived")),
    ),
    rejects(
      "archived-digest-upper-case",
      "a digest in upper-case hex",
      with_({ archived: { digest: "AB".repeat(32) } }),
    ),
    rejects(
      "archived-digest-short",
      "a digest of 31 bytes",
      with_({ archived: { digest: "ab".repeat(31) } }),
    ),
  ];
};

/** Packets whose form is wrong. */
export const formVectors = (): ReadonlyArray<Vector> => [
  ...jsonText(),
  ...members(),
  ...signature(),
  ...references(),
];

/** Packets of other versions of the format: no check of them fails, and none passes. */
export const versionVectors = (): ReadonlyArray<Vector> => {
  const of = (name: string, why: string, packet: string): Vector => ({
    name,
    why,
    packet,
    failed_checks: [],
    without_policy: "unsupported_version",
  });
  const named = (version: string) => lie((data) => void (data["version"] = version));
  const other = goldenDraft();
  other.data = { version: "settlement-evidence-v3", anything: [] };
  return [
    of("version-1", "version settlement-evidence-v1", named("settlement-evidence-v1")),
    of("version-3", "another version, with members of its own", JSON.stringify(other)),
  ];
};
