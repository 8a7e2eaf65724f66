import { concatBytes } from "@noble/hashes/utils.js";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { SettlementError } from "../settlement-error.ts";
import { transactionWords } from "../signing/describe-transaction.ts";
import type { AcceptedSigner } from "../signing/sign-transaction.ts";
import { chainOf, type Wallet, type WalletAccount } from "./wallet-standard.ts";

const SIGNATURE_BYTES = 64;
/** The number of signatures, one byte for up to 127. */
const COUNT_BYTES = 1;

/** What a wallet may sign, and where. */
export type Allowed = {
  readonly trust: string;
  readonly cluster: string;
  /** The sentences that the person saw, in the order of the instructions. */
  readonly shown: ReadonlyArray<string>;
};

const otherThanShown = (shown: string, decoded: string): SettlementError =>
  new SettlementError(
    "other_than_shown",
    `The transaction that was prepared is not the one that you saw. You saw: ${shown}. It does: ${decoded}.`,
    "Nothing was signed. Prepare it again, and read what it does.",
  );

const changedByWallet = (name: string): SettlementError =>
  new SettlementError(
    "changed_by_wallet",
    `The wallet ${name} signed another transaction than the one that you saw.`,
    "Nothing was sent. Turn off what the wallet adds to transactions, or use another wallet.",
  );

/**
 * A wallet of the browser as a signer. It decodes each transaction, and gives it to the wallet only when it says what
 * the person saw, word for word; what the wallet gives back must have the same message. @throws SettlementError
 * `other_than_shown` before the wallet is asked, and `changed_by_wallet`
 */
export const walletSigner = (
  { name, features }: Wallet,
  account: WalletAccount,
  { trust, cluster, shown }: Allowed,
): AcceptedSigner => {
  const signed = async (message: Uint8Array, signers: ReadonlyArray<string>) => {
    const signaturesEnd = COUNT_BYTES + SIGNATURE_BYTES * signers.length;
    const transaction = concatBytes(
      Uint8Array.of(signers.length),
      new Uint8Array(signaturesEnd - COUNT_BYTES),
      message,
    );
    const decoded = transactionWords(encodeBase64(transaction), trust);
    if (decoded !== shown.join("; ")) throw otherThanShown(shown.join("; "), decoded);
    const [output] = await features["solana:signTransaction"].signTransaction({
      account,
      transaction,
      chain: chainOf(cluster),
    });
    const given = new Uint8Array(output?.signedTransaction ?? []);
    const kept = given.subarray(signaturesEnd);
    if (
      given[0] !== signers.length ||
      kept.length !== message.length ||
      !kept.every((byte, at) => byte === message[at])
    )
      throw changedByWallet(name);
    const at = COUNT_BYTES + SIGNATURE_BYTES * signers.indexOf(account.address);
    return { [account.address]: given.subarray(at, at + SIGNATURE_BYTES) };
  };
  return {
    address: account.address,
    signTransactions: (transactions) =>
      Promise.all(
        transactions.map(({ messageBytes, signatures }) =>
          signed(Uint8Array.from(messageBytes), Object.keys(signatures)),
        ),
      ),
  };
};
