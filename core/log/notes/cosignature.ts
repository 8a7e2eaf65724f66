import type { NoteSignature } from "./signed-note.ts";
import type { VerifierKey } from "./verifier-key.ts";

/** The latest time that a cosignature may state: 2^63 - 1 (C2SP tlog-cosignature, "Format"). */
const LAST_TIME = (1n << 63n) - 1n;
const TIME_LENGTH = 8;

/**
 * What a witness signs to cosign the text of a checkpoint at a time (C2SP tlog-cosignature, "Ed25519 signed message").
 * The time is in Unix seconds, [1, 2^63 - 1].
 */
export const cosignatureMessage = (text: string, time: bigint): Uint8Array =>
  new TextEncoder().encode(`cosignature/v1\ntime ${time}\n${text}`);

/**
 * The signature line of a cosignature, from the Ed25519 signature (64 bytes) over `cosignatureMessage`.
 * @throws RangeError for a time outside [1, 2^63 - 1].
 */
export const cosignatureOf = (
  { name, id }: Pick<VerifierKey, "name" | "id">,
  time: bigint,
  signature: Uint8Array,
): NoteSignature => {
  if (time < 1n || time > LAST_TIME) throw new RangeError(`no cosignature has the time ${time}`);
  const bytes = new Uint8Array(TIME_LENGTH + signature.length);
  new DataView(bytes.buffer).setBigUint64(0, time);
  bytes.set(signature, TIME_LENGTH);
  return { name, id, signature: bytes };
};

/**
 * The time that a cosignature states, in Unix seconds, and its Ed25519 signature; undefined for bytes of another form.
 * A witness never leaves the time out, so zero is refused (C2SP tlog-witness, "add-checkpoint").
 */
export const timedSignatureOf = (
  bytes: Uint8Array,
): { readonly time: bigint; readonly signature: Uint8Array } | undefined => {
  if (bytes.length !== TIME_LENGTH + 64) return undefined;
  const time = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0);
  if (time < 1n || time > LAST_TIME) return undefined;
  return { time, signature: bytes.slice(TIME_LENGTH) };
};
