import { base58, need } from "./independent-form.ts";

/** The header of each form, and where key, signature and message of each part lie: `key signature message end`. */
const FORMS = [
  { header: "01003000ffff1000ffff70008000ffff", parts: [[16, 48, 112, 240]] },
  {
    header: "02003e00ffff1e00ffffde008000ffff9e00ffff7e00ffff5e017800ffff",
    parts: [
      [30, 62, 222, 350],
      [126, 158, 350, 470],
    ],
  },
] as const;

/** A second reading of an Ed25519 instruction's data, by docs/verify-evidence.md, "The attestation on the ledger". */
export const readInstruction = (bytes: Uint8Array) => {
  const data = Buffer.from(bytes);
  try {
    const form = FORMS.find(
      ({ header, parts }) =>
        data.length === parts.at(-1)?.[3] &&
        data.subarray(0, header.length / 2).toString("hex") === header,
    );
    need(form !== undefined);
    const [attested, vouched] = form.parts.map(([key, signature, message, end]) => ({
      public_key: base58(data.subarray(key, key + 32)),
      signature_hex: data.subarray(signature, signature + 64).toString("hex"),
      message_hex: data.subarray(message, end).toString("hex"),
    }));
    need(attested !== undefined);
    return { ...attested, voucher: vouched ?? null };
  } catch {
    return null;
  }
};
