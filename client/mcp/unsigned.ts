import type { UnsignedTransaction } from "../generated/contract.ts";
import { SettlementError } from "../settlement-error.ts";

/** What a caller needs of a prepared transaction to sign it. @throws SettlementError when the answer holds none. */
export const unsignedOf = ({
  escrow_pda,
  transaction,
}: {
  readonly escrow_pda: string;
  readonly transaction?: UnsignedTransaction;
}) => {
  if (transaction === undefined)
    throw new SettlementError(
      "unexpected_answer",
      "The service gave no transaction.",
      "Check the service's address and version.",
    );
  const { base64, signers, last_valid_block_height } = transaction;
  return { escrow: escrow_pda, transaction: base64, signers, last_valid_block_height };
};
