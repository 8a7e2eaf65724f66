import { concatBytes } from "@noble/hashes/utils.js";

/** Numbers written one after another, each in 1, 2, 4 or 8 little-endian bytes. */
export const packed = (
  ...fields: ReadonlyArray<readonly [size: 1 | 2 | 4 | 8, value: number]>
): Uint8Array => {
  const bytes = new Uint8Array(fields.reduce((sum, [size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 1) view.setUint8(at, value);
    else if (size === 2) view.setUint16(at, value, true);
    else if (size === 4) view.setUint32(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
    at += size;
  }
  return bytes;
};

/** The parts one after another. */
export const concat = (parts: ReadonlyArray<Uint8Array>): Uint8Array => concatBytes(...parts);

/** Zero-terminated names, the empty one first, and where each begins. */
export const stringTable = (
  names: ReadonlyArray<string>,
): { readonly bytes: Uint8Array; readonly offsets: ReadonlyArray<number> } => {
  const parts = names.map((name) => new TextEncoder().encode(`${name}\0`));
  let at = 1;
  const offsets = parts.map((part) => {
    at += part.length;
    return at - part.length;
  });
  return { bytes: concat([Uint8Array.of(0), ...parts]), offsets };
};

/** `value` rounded up to a multiple of `alignment`. */
export const alignUp = (value: number, alignment: number): number =>
  Math.ceil(value / alignment) * alignment;
