import type { Address } from "../../core/domain/address.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import type { UnsignedTransaction } from "../../core/protocol/transaction/unsigned-transaction.ts";
import type { PreparedEscrowCall } from "../generated/contract.ts";
import type { Requests } from "../service/requests.ts";
import { expectedTransaction } from "../signing/expected-transaction.ts";
import { deploymentIn } from "./payment-terms.ts";

/** What having a transaction prepared needs. */
export type PrepareContext = {
  readonly requests: Requests;
  readonly policy: TrustPolicy;
  /** The most that the transaction may pay for priority, lamports; 1,000,000 when undefined. */
  readonly mostPriorityFee?: bigint | undefined;
};

/**
 * The unsigned transaction that the service prepares at `path` for `payer`, when it is `asked`, byte for byte, as `expectedTransaction` says.
 * `body` is sent besides the payer. @throws SettlementError
 */
export const preparedTransaction = async (
  { requests, policy, mostPriorityFee }: PrepareContext,
  path: string,
  body: object,
  payer: Address,
  asked: (
    deployment: Deployment,
    prepared: ReadonlyArray<Instruction>,
  ) => ReadonlyArray<Instruction>,
  signal: AbortSignal | undefined,
): Promise<UnsignedTransaction> => {
  const prepared = await requests.data<Pick<PreparedEscrowCall, "transaction">>(
    `${path}?transaction=true`,
    { body: { ...body, payer }, signal },
  );
  const expected = (all: ReadonlyArray<Instruction>) => asked(deploymentIn(policy), all);
  return expectedTransaction(prepared.transaction?.base64 ?? "", payer, expected, mostPriorityFee);
};
