import type { openStage } from "../../../app/demo/stage.ts";
import {
  type LedgerSignature,
  ledgerSignatureFromBytes,
} from "../../../core/domain/ledger/signature.ts";
import { registerMerchantInstruction } from "../../../core/protocol/instructions/attestor-instructions.ts";

/** A stage's merchant's registration, signed and not sent: base64, and its signature. */
export const openRegistration = async (
  stage: Awaited<ReturnType<typeof openStage>>,
  name: string,
): Promise<{ readonly transaction: string; readonly signature: LedgerSignature }> => {
  const register = registerMerchantInstruction(stage.deployment, {
    payer: stage.merchant.address,
    merchant: stage.merchant.address,
    attestor: stage.attestor.address,
    name,
  });
  const transaction = await stage.merchant.transaction(
    [register],
    await stage.faucet.latestBlockhash(),
  );
  const bytes = new Uint8Array(Buffer.from(transaction, "base64"));
  return { transaction, signature: ledgerSignatureFromBytes(bytes.slice(1, 65)) };
};
