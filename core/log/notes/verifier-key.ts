import { decodeBase64, encodeBase64 } from "../../domain/encoding/base64.ts";
import { hash32FromBytes } from "../../domain/hash32.ts";
import { sha256 } from "../../domain/sha256.ts";
import { canVerifyUnder } from "../../protocol/crypto/strict-ed25519.ts";
import type { Parsed } from "../parsed.ts";

/**
 * What a key signs: `ed25519` the text of a note (type 0x01 of C2SP signed-note), `cosignature` a checkpoint at a time
 * (type 0x04, C2SP tlog-cosignature), `ml-dsa-44` either (type 0x06). Nothing here verifies ML-DSA-44: such a key can
 * be named, and none of its signatures counts.
 */
export type KeyUse = "ed25519" | "cosignature" | "ml-dsa-44";

/** A public key that signs notes, and the name under which it does. */
export type VerifierKey = {
  readonly name: string;
  /** The first four bytes of SHA-256(name, newline, type, public key), as eight lower-case hex digits. */
  readonly id: string;
  readonly use: KeyUse;
  /** Ed25519, 32 bytes; ML-DSA-44 (FIPS 204), 1,312 bytes. */
  readonly publicKey: Uint8Array;
};

/** The type byte of each use, and the length of its public keys in bytes. */
const FORMS = {
  ed25519: { type: 0x01, length: 32 },
  cosignature: { type: 0x04, length: 32 },
  "ml-dsa-44": { type: 0x06, length: 1312 },
} as const satisfies Record<KeyUse, unknown>;
const USES = ["ed25519", "cosignature", "ml-dsa-44"] as const;
const ID_DIGITS = 8;

/** Longer names are nobody's: an origin line has some 60 characters. */
const MAX_NAME_LENGTH = 256;

/**
 * Whether a text can name a key: not empty, well-formed, at most 256 characters, and without Unicode spaces, plus and
 * control characters (C2SP signed-note, "Format").
 */
export const isKeyName = (text: string): boolean =>
  text.length > 0 &&
  text.length <= MAX_NAME_LENGTH &&
  text.isWellFormed() &&
  !/[\p{White_Space}\p{Cc}+]/u.test(text);

const idOf = (name: string, use: KeyUse, publicKey: Uint8Array): string => {
  const hashed = [...new TextEncoder().encode(`${name}\n`), FORMS[use].type, ...publicKey];
  return hash32FromBytes(sha256(Uint8Array.from(hashed))).slice(0, ID_DIGITS);
};

/** The verifier key of a name and a public key. @throws RangeError for another name or length. */
export const verifierKey = (name: string, use: KeyUse, publicKey: Uint8Array): VerifierKey => {
  if (!isKeyName(name)) throw new RangeError(`${JSON.stringify(name)} cannot name a key`);
  const { length } = FORMS[use];
  if (publicKey.length !== length)
    throw new RangeError(`a public key has ${length} bytes, not ${publicKey.length}`);
  return { name, id: idOf(name, use, publicKey), use, publicKey };
};

/** How a signature line names its key: `<name>+<id>`. Two keys may have one, because an id has only four bytes. */
export const keyLabel = ({ name, id }: Pick<VerifierKey, "name" | "id">): string => `${name}+${id}`;

/** A key as `<name>+<id>+<base64 of type and public key>` (C2SP signed-note, "Verifier keys"). */
export const printVerifierKey = ({ name, id, use, publicKey }: VerifierKey): string =>
  `${name}+${id}+${encodeBase64(Uint8Array.of(FORMS[use].type, ...publicKey))}`;

/** The key of a text that `printVerifierKey` prints, or what is wrong with it. */
export const parseVerifierKey = (text: string): Parsed<VerifierKey> => {
  // The name has no plus, but the base64 may have some.
  const [, name = "", id = "", material = ""] = /^([^+]*)\+([^+]*)\+(.*)$/s.exec(text) ?? [];
  if (!isKeyName(name)) return { fault: "a verifier key is <name>+<id>+<base64>" };
  const bytes = decodeBase64(material);
  if (bytes === undefined) return { fault: `the key of ${name} is not base64` };
  const use = USES.find((each) => FORMS[each].type === bytes[0]);
  if (use === undefined)
    return { fault: `the key of ${name} is of none of the types 0x01, 0x04 and 0x06` };
  const publicKey = bytes.slice(1);
  if (publicKey.length !== FORMS[use].length || (use !== "ml-dsa-44" && !canVerifyUnder(publicKey)))
    return {
      fault: `the key of ${name} is no ${use === "ml-dsa-44" ? "ML-DSA-44" : "Ed25519"} key`,
    };
  if (id !== idOf(name, use, publicKey))
    return { fault: `the id of ${name} is not that of its key` };
  return { value: { name, id, use, publicKey } };
};
