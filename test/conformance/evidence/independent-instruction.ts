import { base58, need } from "./independent-form.ts";

/** A second reading of an Ed25519 instruction's data, by docs/verify-evidence.md, "The attestation on the ledger". */
export const readInstruction = (bytes: Uint8Array) => {
  const data = Buffer.from(bytes);
  try {
    need(data.length === 240);
    need(data.subarray(0, 16).toString("hex") === "01003000ffff1000ffff70008000ffff");
    return {
      public_key: base58(data.subarray(16, 48)),
      signature_hex: data.subarray(48, 112).toString("hex"),
      message_hex: data.subarray(112).toString("hex"),
    };
  } catch {
    return null;
  }
};
