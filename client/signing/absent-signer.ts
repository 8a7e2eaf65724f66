import { concatBytes } from "@noble/hashes/utils.js";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { SettlementError } from "../settlement-error.ts";
import type { AcceptedSigner } from "./sign-transaction.ts";

/** What a wallet elsewhere must sign: the unsigned transaction in base64, and whose signatures it has place for. */
export type Unsigned = { readonly transaction: string; readonly signers: ReadonlyArray<string> };

const SIGNATURE_BYTES = 64;

/** The failure of a step that waits for a wallet elsewhere. */
export class WalletMustSign extends SettlementError {
  readonly unsigned: Unsigned;

  constructor(unsigned: Unsigned) {
    super(
      "wallet_must_sign",
      `${unsigned.signers.join(", ")} must sign a transaction, and its wallet is elsewhere.`,
      "Have the transaction signed and relay it, then make the same call again.",
    );
    this.unsigned = unsigned;
  }
}

/**
 * Stands for a wallet in another program: whatever is to be signed becomes a `WalletMustSign` with the transaction, which
 * was checked before.
 */
export const absentSigner = (address: string): AcceptedSigner => ({
  address,
  signTransactions: ([first]) => {
    const signers = Object.keys(first?.signatures ?? {});
    const bytes = concatBytes(
      Uint8Array.of(signers.length),
      new Uint8Array(signers.length * SIGNATURE_BYTES),
      Uint8Array.from(first?.messageBytes ?? []),
    );
    return Promise.reject(new WalletMustSign({ transaction: encodeBase64(bytes), signers }));
  },
});
