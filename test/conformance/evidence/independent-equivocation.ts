import { type IndependentSession, readSession, sized } from "./independent-call.ts";
import { strictlySigned } from "./independent-ed25519.ts";
import { need, object, strictText } from "./independent-form.ts";
import { readJson, type Value, writeCanonical } from "./independent-json.ts";
import { verifyIndependently } from "./independent-verifier.ts";

const MOST_BYTES = 131_072;

/** An attestation's 120 bytes, of the right form. @throws Error */
const attestationIn = (value: Value | undefined): Buffer => {
  const bytes = sized(value, 120);
  need((bytes[52] ?? 2) <= 1 && bytes.subarray(53, 56).every((byte) => byte === 0));
  return bytes;
};

const readFile = (file: Uint8Array) => {
  need(file.length <= MOST_BYTES);
  const whole = object(readJson(strictText(file)), "version packet first_base64 second_base64");
  const packet = whole.get("packet");
  need(whole.get("version") === "settlement-evidence-equivocation-v1");
  need(packet instanceof Map);
  return {
    packet,
    first: attestationIn(whole.get("first_base64")),
    second: attestationIn(whole.get("second_base64")),
  };
};

const isSigned = (attestation: Buffer, { bytes, domain, terms }: IndependentSession): boolean =>
  strictlySigned(
    attestation.subarray(56),
    Buffer.concat([Buffer.from("attest 3"), domain, terms, attestation.subarray(0, 56)]),
    bytes.subarray(248, 280),
  );

/** Whether no honest attestor signs both. */
const contradict = (one: Buffer, two: Buffer): boolean => {
  const [fewer, more] = one.readUInt32LE(48) <= two.readUInt32LE(48) ? [one, two] : [two, one];
  const isOfOneCount = fewer.readUInt32LE(48) === more.readUInt32LE(48);
  // Root and total are its first 40 bytes.
  if (isOfOneCount) return !fewer.subarray(0, 40).equals(more.subarray(0, 40));
  return more.readBigUInt64LE(32) < fewer.readBigUInt64LE(32) || fewer[52] === 1;
};

/**
 * A second verifier of files of two attestations, written from docs/verify-evidence.md, "Two attestations": its verdict,
 * and the file's failed check; null where its packet does not verify.
 */
export const verifyEquivocationIndependently = async (
  file: Uint8Array,
  policy: Uint8Array | null,
): Promise<{ readonly verdict: string; readonly failed: ReadonlyArray<string> | null }> => {
  let read: ReturnType<typeof readFile>;
  try {
    read = readFile(file);
  } catch {
    return { verdict: "failed", failed: ["equivocation_form"] };
  }
  const { packet, first, second } = read;
  const { verdict } = await verifyIndependently(Buffer.from(writeCanonical(packet)), policy);
  if (verdict !== "verified" && verdict !== "untrusted") return { verdict: "failed", failed: null };
  const session = readSession(packet);
  const isSession = session.bytes.subarray(368, 400).some((byte) => byte !== 0);
  const isConvicted =
    isSession && isSigned(first, session) && isSigned(second, session) && contradict(first, second);
  return isConvicted ? { verdict, failed: [] } : { verdict: "failed", failed: ["equivocation"] };
};
