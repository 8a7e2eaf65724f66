import { signedTransaction } from "../../../adapters/local-ledger/genesis/signed-transaction.ts";
import type { Stage } from "../../../app/demo/stage.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import {
  type LedgerSignature,
  ledgerSignatureFromBytes,
} from "../../../core/domain/ledger/signature.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { registerMerchantInstruction } from "../../../core/protocol/instructions/attestor-instructions.ts";

/** A merchant's registration, signed and not sent: base64, and its signature. */
export const openRegistration = (
  { merchant, attestor }: Stage["parties"],
  blockhash: string,
  name: string,
): { readonly transaction: string; readonly signature: LedgerSignature } => {
  const register = registerMerchantInstruction(LOCAL_DEPLOYMENT, {
    payer: merchant.address,
    merchant: merchant.address,
    attestor: attestor.address,
    name,
  });
  const bytes = signedTransaction({ payer: merchant, instructions: [register], blockhash });
  return {
    transaction: encodeBase64(bytes),
    signature: ledgerSignatureFromBytes(bytes.slice(1, 65)),
  };
};
