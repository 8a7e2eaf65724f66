import { base58, need } from "./independent-form.ts";

/** A second reading of an Ed25519 instruction's data, by docs/verify-evidence.md, "The attestation on the ledger". */
export const readInstruction = (bytes: Uint8Array) => {
  const data = Buffer.from(bytes);
  try {
    need(data.length >= 16 && data[0] === 1);
    const cut = (offset: number, length: number, index: number): Buffer => {
      need(data.readUInt16LE(index) === 0xffff);
      const start = data.readUInt16LE(offset);
      need(start + length <= data.length);
      return data.subarray(start, start + length);
    };
    return {
      public_key: base58(cut(6, 32, 8)),
      signature_hex: cut(2, 64, 4).toString("hex"),
      message_hex: cut(10, data.readUInt16LE(12), 14).toString("hex"),
    };
  } catch {
    return null;
  }
};
