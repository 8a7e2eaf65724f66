import type { Address } from "../../core/domain/address.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import type { UnsignedTransaction } from "../../core/protocol/transaction/unsigned-transaction.ts";
import type { PreparedEscrowCall } from "../generated/contract.ts";
import { type CarriedBy, dataBy, type Operation } from "../service/operation.ts";
import type { Requests } from "../service/requests.ts";
import { expectedTransaction } from "../signing/expected-transaction.ts";
import { SettlementError } from "../settlement-error.ts";
import { deploymentIn } from "./payment-terms.ts";

/** What having a transaction prepared needs. */
export type PrepareContext = {
  readonly requests: Requests;
  readonly policy: TrustPolicy;
  /** The most that the transaction may pay for priority, lamports; 1,000,000 when undefined. */
  readonly mostPriorityFee?: bigint | undefined;
  /** Told what each transaction cost that has landed, lamports. */
  readonly charged?: ((lamports: bigint) => Promise<void>) | undefined;
};

/** The code of the failure of a transaction that has no room for the payee's missing token account. */
export const ACCOUNT_FIRST = "account_first";

/**
 * Has an operation prepare a transaction for `payer`, and returns it when it equals the instructions of `asked`, byte
 * for byte (`expectedTransaction`). @throws SettlementError
 */
export const preparedTransaction = async <
  Name extends Extract<Operation, `${string}?transaction=true`>,
  const Given extends { readonly payer: Address },
>(
  { requests, policy, mostPriorityFee }: PrepareContext,
  operation: Name,
  carried: CarriedBy<Name, Given>,
  asked: (
    deployment: Deployment,
    prepared: ReadonlyArray<Instruction>,
  ) => ReadonlyArray<Instruction>,
  signal: AbortSignal | undefined,
): Promise<UnsignedTransaction> => {
  const prepared: object = await dataBy(requests, operation, carried, { signal });
  const { before, transaction } = prepared as Pick<PreparedEscrowCall, "before" | "transaction">;
  if (before !== undefined)
    throw new SettlementError(
      ACCOUNT_FIRST,
      "The payee has no token account, and the transaction has no room to make one.",
      "Make the payee's associated token account first.",
    );
  const expected = (all: ReadonlyArray<Instruction>) => asked(deploymentIn(policy), all);
  return expectedTransaction(transaction?.base64 ?? "", carried.payer, expected, mostPriorityFee);
};
