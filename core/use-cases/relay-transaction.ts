import { Duration, Effect, Option, Schedule } from "effect";
import type { Address } from "../domain/address.ts";
import type { LedgerSignature } from "../domain/ledger-signature.ts";
import { RELAY_POLICY } from "../domain/relay-policy.ts";
import type { LandedTransaction, TransactionError } from "../domain/transaction-outcome.ts";
import { decodeCustodyInstruction } from "../protocol/custody-instruction-data.ts";
import type { WireTransaction } from "../protocol/wire-transaction.ts";
import { Broadcaster } from "../../ports/broadcaster.ts";
import { Instance } from "../../ports/instance.ts";
import { Ledger } from "../../ports/ledger.ts";
import { enforceBetaLimits } from "./enforce-beta-limits.ts";
import { admitTransaction } from "./relay-admission.ts";
import { BlockhashExpired, FeePayerCannotPay, TransactionRejected } from "./relay-errors.ts";

/** The body of `POST /v1/relay`. */
export type RelayRequest = {
  /** base64 */
  readonly signedTransaction: string;
  readonly confirm: boolean;
  readonly skipPreflight: boolean;
};

/** What became of a relayed transaction so far. */
export type RelayResult = {
  readonly signature: LedgerSignature;
  readonly status: "submitted" | "confirmed" | "finalized";
  /** The slot it landed in, null while only submitted. */
  readonly slot: bigint | null;
  readonly feePayer: Address;
};

const rejected = (
  { signature, instructions }: WireTransaction,
  error: TransactionError | null,
  logs: ReadonlyArray<string>,
): TransactionRejected =>
  new TransactionRejected({
    signature,
    error,
    logs,
    program: instructions[error?.instructionIndex ?? -1]?.program ?? null,
  });

const toResult = Effect.fnUntraced(function* (
  transaction: WireTransaction,
  landed: LandedTransaction | null,
) {
  const { signature, feePayer } = transaction;
  const submitted: RelayResult = { signature, status: "submitted", slot: null, feePayer };
  if (landed === null || landed.commitment === "processed") return submitted;
  if (landed.error !== null) {
    const broadcaster = yield* Broadcaster;
    const logs = yield* broadcaster.logs(signature);
    return yield* rejected(transaction, landed.error, logs);
  }
  const result: RelayResult = {
    signature,
    status: landed.commitment,
    slot: landed.slot,
    feePayer,
  };
  return result;
});

/** The place of the mint among `create_escrow`'s accounts; see docs/protocol.md, "custody". */
const CREATE_ESCROW_MINT = 4;

const checkBetaLimits = Effect.fnUntraced(function* (transaction: WireTransaction) {
  const { deployment } = yield* Instance;
  for (const { program, accounts, data } of transaction.instructions) {
    if (program !== deployment.custodyProgram) continue;
    const call = decodeCustodyInstruction(data);
    if (call?.name !== "create_escrow") continue;
    const mint = transaction.staticAccounts[accounts[CREATE_ESCROW_MINT] ?? -1] ?? null;
    yield* enforceBetaLimits({ mint, amount: call.amount, ttlSeconds: call.ttlSeconds });
  }
});

const checkFeePayer = Effect.fnUntraced(function* (transaction: WireTransaction) {
  const broadcaster = yield* Broadcaster;
  const ledger = yield* Ledger;
  const { feePayer, signature } = transaction;
  const feeLamports = yield* broadcaster.fee(transaction.message);
  if (feeLamports === null) return yield* new BlockhashExpired({ signature });
  const { value } = yield* ledger.readAccounts([feePayer], "confirmed");
  const balanceLamports = value[0]?.lamports ?? 0n;
  if (balanceLamports < feeLamports)
    return yield* new FeePayerCannotPay({ feePayer, balanceLamports, feeLamports, signature });
});

const checkBySimulation = Effect.fnUntraced(function* (
  transaction: WireTransaction,
  bytes: Uint8Array,
) {
  const broadcaster = yield* Broadcaster;
  const { error, logs } = yield* broadcaster.simulate(bytes);
  if (error === null || error.kind === "AlreadyProcessed") return;
  if (error.kind === "BlockhashNotFound")
    return yield* new BlockhashExpired({ signature: transaction.signature });
  return yield* rejected(transaction, error, logs);
});

/** Polls until the transaction is confirmed or the instance's limit has passed; null when it has not. */
const awaitConfirmation = Effect.fnUntraced(function* (signature: LedgerSignature) {
  const broadcaster = yield* Broadcaster;
  const { confirmTimeoutMs } = yield* Instance;
  const confirmed = yield* broadcaster.landed(signature).pipe(
    Effect.orElseSucceed(() => null),
    Effect.repeat({
      schedule: Schedule.spaced(Duration.millis(RELAY_POLICY.confirmPollMs)),
      until: (landed) => landed !== null && landed.commitment !== "processed",
    }),
    Effect.timeoutOption(Duration.millis(confirmTimeoutMs)),
  );
  return Option.getOrElse(confirmed, () => null);
});

/**
 * Sends a transaction that its signers have signed, once its signatures, programs, blockhash and fee
 * payer are checked and, unless `skipPreflight`, a simulation succeeds. A transaction the ledger knows
 * already is answered with what is known. With `confirm` it waits for a confirmation and still answers
 * `submitted` when none comes in time. Fails with a `RelayRefusal` or a ledger failure.
 * See docs/protocol.md, "Relay".
 */
export const relayTransaction = Effect.fn("relayTransaction")(function* (request: RelayRequest) {
  const { transaction, bytes } = yield* admitTransaction(request.signedTransaction);
  yield* checkBetaLimits(transaction);
  const broadcaster = yield* Broadcaster;
  const { signature } = transaction;
  const known = yield* broadcaster.landed(signature);
  if (known === null) {
    if (!(yield* broadcaster.isBlockhashValid(transaction.blockhash)))
      return yield* new BlockhashExpired({ signature });
    yield* checkFeePayer(transaction);
    if (!request.skipPreflight) yield* checkBySimulation(transaction, bytes);
    yield* broadcaster
      .submit(bytes)
      .pipe(
        Effect.catchTag("SubmissionRefused", ({ error, logs }) =>
          Effect.fail(
            error?.kind === "BlockhashNotFound"
              ? new BlockhashExpired({ signature })
              : rejected(transaction, error, logs),
          ),
        ),
      );
  }
  const landed = request.confirm ? yield* awaitConfirmation(signature) : known;
  return yield* toResult(transaction, landed);
});
