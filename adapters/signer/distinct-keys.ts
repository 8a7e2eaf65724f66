import { encodeBase64 } from "../../core/domain/encoding/base64.ts";

/** A public key of 32 bytes, and the setting that it comes from. */
export type NamedKey = { readonly setting: string; readonly publicKey: Uint8Array };

/**
 * What is wrong with a service's keys when two of them are the same, null when all differ. A signature under the key of
 * evidence, of a log or of a witness states something of its own, so no key may have two of these uses.
 */
export const sameKeys = (keys: ReadonlyArray<NamedKey>): string | null => {
  const settings = new Map<string, string>();
  for (const { setting, publicKey } of keys) {
    const text = encodeBase64(publicKey);
    const other = settings.get(text);
    if (other !== undefined) return `${setting} is the key of ${other}; each needs one of its own`;
    settings.set(text, setting);
  }
  return null;
};
