const ORDER = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;

/** The same signature with S + L for S: a second form of it that lax verifiers take. */
export const secondForm = (signature: Uint8Array): Uint8Array => {
  const s = BigInt(`0x${Buffer.from(signature.subarray(32).toReversed()).toString("hex")}`);
  const high = Buffer.from((s + ORDER).toString(16).padStart(64, "0"), "hex").toReversed();
  return new Uint8Array(Buffer.concat([signature.subarray(0, 32), high]));
};

/** The neutral point; under it as a key, R = neutral and S = 0 "sign" everything for lax verifiers. */
export const NEUTRAL = new Uint8Array(32).with(0, 1);
/** Lax verifiers take it for any message under the neutral point. */
export const NEUTRAL_SIGNATURE = new Uint8Array(64).with(0, 1);
