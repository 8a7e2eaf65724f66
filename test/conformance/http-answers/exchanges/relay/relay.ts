import type {
  LandedTransaction,
  TransactionError,
} from "../../../../../core/domain/relay/relay-entry.ts";
import { type Exchange, get, post } from "../../exchange.ts";
import type { World } from "../../world/fixed-world.ts";
import { signatureOf } from "../../world/transactions.ts";

type More = Partial<Exchange> & {
  /** Members of the body beside the transaction. */
  readonly members?: Readonly<Record<string, unknown>>;
};

/** `POST /v1/relay` with a transaction. */
export const relay = (title: string, transaction: string, more: More = {}): Exchange => {
  const { members = {}, ...rest } = more;
  const body = { signed_transaction: transaction, ...members };
  return post("relayTransaction", title, "/v1/relay", body, rest);
};

/** `GET /v1/relay/{signature}` with the signature of a transaction. */
export const outcome = (title: string, transaction: string, given?: Exchange["given"]): Exchange =>
  get(
    "readRelayOutcome",
    title,
    `/v1/relay/${signatureOf(transaction)}`,
    given === undefined ? {} : { given },
  );

/** Every transaction that was sent has landed like this. */
export const landed =
  (commitment: LandedTransaction["commitment"], error: TransactionError | null = null) =>
  ({ ledger }: World): void => {
    ledger.fate = { slot: 1010n, commitment, error };
    ledger.logs = error === null ? [] : ["Program log: of the landed transaction"];
  };

/** Every simulation fails with this error. */
export const simulationFails =
  (error: TransactionError) =>
  ({ ledger }: World): void => {
    ledger.simulationError = error;
  };

/** No blockhash is valid. */
export const blockhashExpired = ({ ledger }: World): void => {
  ledger.isBlockhashValid = () => false;
};

/** The error of instruction 0 with a custom code. */
export const customError = (customCode: number): TransactionError => ({
  kind: "InstructionError",
  instructionIndex: 0,
  instructionError: "Custom",
  customCode,
});

/** An error of the whole transaction. */
export const transactionError = (kind: string): TransactionError => ({
  kind,
  instructionIndex: null,
  instructionError: null,
  customCode: null,
});
