import { Schema } from "effect";
import type { Address } from "../../../core/domain/address.ts";
import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type {
  LandedTransaction,
  ShownTransaction,
  Simulation,
  TransactionError,
} from "../../../core/domain/relay/relay-entry.ts";
import { decodeWireTransaction } from "../../../core/protocol/transaction/wire-transaction.ts";

const U32_MAX = 2 ** 32 - 1;
const Name = Schema.String.check(Schema.isPattern(/^[A-Z][A-Za-z0-9]{1,63}$/));
const isName = Schema.is(Name);
const isTagged = Schema.is(Schema.Record(Name, Schema.Unknown));
const isInstructionFailure = Schema.is(
  Schema.Tuple([Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })), Schema.Unknown]),
);
const isCustom = Schema.is(
  Schema.Struct({ Custom: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: U32_MAX })) }),
);

/** A transaction's error that says no more than its kind. */
export const plainError = (kind: string): TransactionError => ({
  kind,
  instructionIndex: null,
  instructionError: null,
  customCode: null,
});

/** The key and value of an object with one key, serde's form of a Rust enum variant with data. */
const variantOf = (
  json: unknown,
): { readonly name: string; readonly held: unknown } | undefined => {
  if (!isTagged(json)) return undefined;
  const [first, ...others] = Object.entries(json);
  return first === undefined || others.length > 0 ? undefined : { name: first[0], held: first[1] };
};

const parseInstructionFailure = (json: unknown): TransactionError | undefined => {
  if (!isInstructionFailure(json)) return undefined;
  const [instructionIndex, inner] = json;
  const common = { kind: "InstructionError", instructionIndex, customCode: null };
  if (isName(inner)) return { ...common, instructionError: inner };
  const variant = variantOf(inner);
  if (variant === undefined) return undefined;
  if (variant.name !== "Custom") return { ...common, instructionError: variant.name };
  return isCustom(inner)
    ? { ...common, instructionError: "Custom", customCode: inner.Custom }
    : undefined;
};

/**
 * A transaction's error as a node writes it (Agave `solana-transaction-error`, serde's JSON): a name, or an object
 * whose one key is the name. Unknown names are kept. Undefined for any other JSON.
 */
export const parseTransactionError = (json: unknown): TransactionError | undefined => {
  if (isName(json)) return plainError(json);
  const variant = variantOf(json);
  if (variant === undefined) return undefined;
  return variant.name === "InstructionError"
    ? parseInstructionFailure(variant.held)
    : plainError(variant.name);
};

/** An `err` member; null for success, undefined for any other JSON. */
export const parseErr = (json: unknown): TransactionError | null | undefined =>
  json === null ? null : parseTransactionError(json);

const Logs = Schema.NullOr(Schema.Array(Schema.String));
const isSimulation = Schema.is(Schema.Struct({ err: Schema.Unknown, logs: Logs }));
const isTransaction = Schema.is(
  Schema.Struct({
    slot: Schema.Natural,
    transaction: Schema.optionalKey(Schema.Unknown),
    meta: Schema.NullOr(
      Schema.Struct({ err: Schema.Unknown, logMessages: Schema.optionalKey(Logs) }),
    ),
  }),
);
const isEncoded = Schema.is(Schema.Tuple([Schema.String, Schema.Literal("base64")]));
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

/** The program of an instruction in a transaction's base64, null where the transaction does not show it. */
const programAt = (encoded: unknown, index: number | null): Address | null => {
  const bytes = isEncoded(encoded) ? decodeBase64(encoded[0]) : undefined;
  const decoded = bytes === undefined ? undefined : decodeWireTransaction(bytes);
  if (decoded === undefined || index === null || !("value" in decoded)) return null;
  return decoded.value.instructions[index]?.program ?? null;
};

/**
 * The result of getTransaction in base64, null where the node does not have the transaction or what became of it.
 * Undefined for any other JSON.
 */
export const parseShown = (json: unknown): ShownTransaction | null | undefined => {
  if (json === null) return null;
  if (!isTransaction(json)) return undefined;
  const { slot, meta, transaction } = json;
  if (meta === null) return null;
  const error = parseErr(meta.err);
  if (error === undefined) return undefined;
  const program = error === null ? null : programAt(transaction, error.instructionIndex);
  return { slot: BigInt(slot), error, logs: meta.logMessages ?? [], program };
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
