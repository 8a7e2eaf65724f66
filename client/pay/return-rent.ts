import { returnRentInstruction } from "../../core/protocol/instructions/custody-instructions.ts";
import type { LiveEscrow } from "../generated/contract.ts";
import { addressNamed } from "../pinned-policy.ts";
import { SettlementError } from "../settlement-error.ts";
import { type AcceptedSigner, signTransaction } from "../signing/sign-transaction.ts";
import { escrowNow } from "./escrow-there.ts";
import { type PrepareContext, preparedTransaction } from "./prepared-transaction.ts";
import { relayUntilKnown } from "./relay.ts";

/** Whether a settled escrow holds rent that `signer` paid and that `return_rent` gives back. */
export const hasRentOf = (live: LiveEscrow, signer: AcceptedSigner): boolean =>
  live.rent_payer === signer.address &&
  live.next_actions.some(({ action }) => action === "return_rent");

/**
 * Returns to its payer the rent that a settled escrow holds above its own, which `signer` paid. Somebody else's may be
 * first: then nothing is left to do. @throws SettlementError while the rent is still there
 */
export const returnRent = async (
  context: PrepareContext,
  { escrow_pda: pda }: LiveEscrow,
  signer: AcceptedSigner,
  signal?: AbortSignal,
): Promise<void> => {
  const escrow = addressNamed(pda, "escrow");
  const payer = addressNamed(signer.address, "signer");
  try {
    const transaction = await preparedTransaction(
      context,
      "POST /v1/escrows/{pda}/rent/prepare?transaction=true",
      { pda: escrow, payer },
      (deployment) => [returnRentInstruction(deployment, { escrow, rentPayer: payer })],
      signal,
    );
    const signed = await signTransaction(transaction, [signer]);
    const outcome = await relayUntilKnown(context, signed, signal);
    if (outcome.status === "landed" && outcome.error === null) return;
    throw new SettlementError(
      "rent_not_returned",
      `The rent of ${pda} did not come home: the transaction ${outcome.status}.`,
      "Run the same again.",
    );
  } catch (cause) {
    if (!(cause instanceof SettlementError)) throw cause;
    const live = await escrowNow(context.requests, escrow, signal);
    if (live !== null && live !== "archived" && hasRentOf(live, signer)) throw cause;
  }
};
