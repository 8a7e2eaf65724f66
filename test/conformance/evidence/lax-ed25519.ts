const ORDER = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;

/** The same signature with S + L instead of S, a second form that lax verifiers accept. */
export const secondForm = (signature: Uint8Array): Uint8Array => {
  const s = BigInt(`0x${Buffer.from(signature.subarray(32).toReversed()).toString("hex")}`);
  const high = Buffer.from((s + ORDER).toString(16).padStart(64, "0"), "hex").toReversed();
  return new Uint8Array(Buffer.concat([signature.subarray(0, 32), high]));
};

/** The neutral point. With it as the key, lax verifiers accept R = neutral and S = 0 for every message. */
export const NEUTRAL = new Uint8Array(32).with(0, 1);
/** A signature that lax verifiers accept for any message under the neutral point. */
export const NEUTRAL_SIGNATURE = new Uint8Array(64).with(0, 1);
