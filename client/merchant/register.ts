import { addressToBytes } from "../../core/domain/address.ts";
import { isMerchantName, showsSomething } from "../../core/domain/merchant/merchant.ts";
import { canVerifyUnder } from "../../core/protocol/crypto/strict-ed25519.ts";
import { registerMerchantInstruction } from "../../core/protocol/instructions/attestor-instructions.ts";
import { preparedTransaction } from "../pay/prepared-transaction.ts";
import { SettlementError } from "../settlement-error.ts";
import type { MessageSigner } from "../signing/sign-transaction.ts";
import { landTransaction, type MerchantContext, readMerchant } from "./merchant-context.ts";
import { addressNamed } from "../pinned-policy.ts";

/** Who registers, and under which name and key. */
export type Registration = {
  /** The merchant's wallet. */
  readonly wallet: MessageSigner;
  /** The Ed25519 key whose attestations will release escrows, base58. */
  readonly attestor: string;
  /** 1 to 32 bytes of UTF-8 without control characters. */
  readonly name: string;
  /** Who pays the fee and the rent; the wallet when left out. */
  readonly payer?: MessageSigner;
  readonly signal?: AbortSignal;
};

/** A registered merchant. */
export type Registered = {
  readonly merchant: string;
  readonly attestor: string;
  readonly name: string;
  /** The transaction; null when it was registered so already. */
  readonly signature: string | null;
};

/** The attestor key in a text. @throws SettlementError for no address, and for a key under which nothing verifies. */
export const attestorKey = (text: string) => {
  const key = addressNamed(text, "attestor");
  if (canVerifyUnder(addressToBytes(key))) return key;
  throw new SettlementError(
    "invalid_attestor",
    `No signature can verify under ${key}.`,
    "Give the public key of the attestor's own key pair.",
  );
};

/** Registers a merchant and returns once that is confirmed. Safe to run again. @throws SettlementError */
export const register = async (
  context: MerchantContext,
  { wallet, name, payer = wallet, signal, attestor: text }: Registration,
): Promise<Registered> => {
  const merchant = addressNamed(wallet.publicKey, "wallet");
  const attestor = attestorKey(text);
  if (!isMerchantName(name) || !showsSomething(name))
    throw new SettlementError(
      "invalid_name",
      "The name must have 1 to 32 bytes of UTF-8, a visible character, and no control character.",
      "Give another name.",
    );
  const there = await readMerchant(context, merchant, signal);
  if (there !== null) {
    if (there.attestor === attestor && there.name === name)
      return { merchant, attestor, name, signature: null };
    throw new SettlementError(
      "merchant_exists",
      `${merchant} is registered already, as "${there.name}" with the attestor ${there.attestor}.`,
      "A name stays; rotate the attestor's key with `merchant rotate`.",
    );
  }
  const paying = addressNamed(payer.publicKey, "payer");
  const terms = { merchant, attestor, name };
  const transaction = await preparedTransaction(
    context,
    "POST /v1/merchants/prepare?transaction=true",
    { ...terms, payer: paying },
    (deployment) => [registerMerchantInstruction(deployment, { payer: paying, ...terms })],
    signal,
  );
  const signature = await landTransaction(context, transaction, [payer, wallet], signal);
  return { merchant, attestor, name, signature };
};
