import { encodeBase58 } from "../../../../core/domain/encoding/base58.ts";

/** 64 bytes in base58, as wallets export a private key: the numbers from 1 to 64. */
export const PRIVATE_KEY = encodeBase58(Uint8Array.from({ length: 64 }, (_, i) => i + 1));
