import { Schema } from "effect";
import type {
  LandedTransaction,
  Simulation,
  TransactionError,
} from "../../../core/domain/relay/transaction-outcome.ts";
import { parseErr } from "./transaction-error-json.ts";

const Logs = Schema.NullOr(Schema.Array(Schema.String));
const isSimulation = Schema.is(Schema.Struct({ err: Schema.Unknown, logs: Logs }));
const isTransaction = Schema.is(
  Schema.Struct({
    meta: Schema.NullOr(Schema.Struct({ logMessages: Schema.optionalKey(Logs) })),
  }),
);
const isStatus = Schema.is(
  Schema.Struct({
    slot: Schema.Natural,
    confirmations: Schema.NullOr(Schema.Natural),
    err: Schema.Unknown,
    confirmationStatus: Schema.optionalKey(
      Schema.NullOr(Schema.Literals(["processed", "confirmed", "finalized"])),
    ),
  }),
);

/** The `value` of simulateTransaction, undefined for any other JSON. */
export const parseSimulation = (json: unknown): Omit<Simulation, "slot"> | undefined => {
  if (!isSimulation(json)) return undefined;
  const error = parseErr(json.err);
  return error === undefined ? undefined : { error, logs: json.logs ?? [] };
};

/** The log lines in a result of getTransaction, empty when the node keeps none. Undefined for any other JSON. */
export const parseTransactionLogs = (json: unknown): ReadonlyArray<string> | undefined => {
  if (json === null) return [];
  return isTransaction(json) ? (json.meta?.logMessages ?? []) : undefined;
};

const parseStatus = (status: unknown): LandedTransaction | null | undefined => {
  if (status === null) return null;
  if (!isStatus(status)) return undefined;
  const error: TransactionError | null | undefined = parseErr(status.err);
  if (error === undefined) return undefined;
  // Without a status, `confirmations` decides (Agave `TransactionStatus::confirmation_status`).
  const commitment =
    status.confirmationStatus ??
    (status.confirmations === null
      ? "finalized"
      : status.confirmations > 0
        ? "confirmed"
        : "processed");
  return { slot: BigInt(status.slot), commitment, error };
};

/** The `value` of getSignatureStatuses for `count` signatures, undefined for any other JSON. */
export const parseLanded = (
  json: unknown,
  count: number,
): ReadonlyArray<LandedTransaction | null> | undefined => {
  if (!Array.isArray(json) || json.length !== count) return undefined;
  const statuses = json.map(parseStatus);
  return statuses.every((status) => status !== undefined) ? statuses : undefined;
};
