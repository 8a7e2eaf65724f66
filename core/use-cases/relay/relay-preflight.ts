import { Duration, Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { BLOCKHASH_AGE } from "../../domain/relay/relay-entry.ts";
import { RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import { readCalls } from "../../protocol/instructions/program-call.ts";
import { feePayerFault } from "../../protocol/rules/lamport-rules.ts";
import { neverRuns } from "../../protocol/transaction/never-runs.ts";
import { decodeRentSysvar } from "../../protocol/accounts/sysvars.ts";
import { CLOCK_SYSVAR, RENT_SYSVAR } from "../../protocol/addresses/well-known-addresses.ts";
import type { WireTransaction } from "../../protocol/transaction/wire-transaction.ts";
import { Broadcaster } from "../../../ports/ledger/broadcaster.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { enforceBetaLimits } from "../escrow/beta-limits.ts";
import { ledgerTimeOf } from "../escrow/read-escrow.ts";
import { orTwoSayNo } from "../or-ask-another.ts";
import { chargeFailedPreflight } from "./relay-admission.ts";
import {
  BlockhashExpired,
  FeePayerCannotPay,
  InstructionBeyondBetaLimit,
  rejected,
} from "./relay-errors.ts";
import { checkSettlement, resolveTables } from "./settlement-precheck.ts";

type Accounts = Effect.Success<ReturnType<typeof resolveTables>>;

/** Has two nodes refuse a transaction, where two are configured. */
const orTwoRefuse = orTwoSayNo(
  "BlockhashExpired",
  "FeePayerCannotPay",
  "LookupTableNotAllowed",
  "SettlementCheckFailed",
  "TransactionRejected",
);

/** How long the escrow of a `create_escrow` will live, seconds: one that names its end lives until then. */
const lifeOf = Effect.fnUntraced(function* (args: {
  readonly ttlSeconds: number;
  readonly expiresAt: UnixSeconds;
}) {
  if (args.expiresAt === 0n) return args.ttlSeconds;
  const { value } = yield* (yield* Ledger).readAccounts([CLOCK_SYSVAR], "confirmed");
  return Number(args.expiresAt - (yield* ledgerTimeOf(value[0] ?? null)));
});

const checkBetaLimits = Effect.fnUntraced(function* (
  { instructions }: WireTransaction,
  { addresses }: Accounts,
) {
  const { deployment, enforceBetaLimits: isEnforced } = yield* Instance;
  if (!isEnforced) return;
  const calls = readCalls(instructions, addresses, deployment);
  for (const [instructionIndex, call] of calls.entries()) {
    if (call?.name !== "create_escrow") continue;
    const { amount } = call.args;
    const ttlSeconds = yield* lifeOf(call.args);
    const mint = call.at("mint") ?? null;
    yield* enforceBetaLimits({ mint, amount, ttlSeconds }).pipe(
      Effect.mapError(({ faults }) => new InstructionBeyondBetaLimit({ instructionIndex, faults })),
    );
  }
});

/** Fails with `BlockhashExpired` unless the ledger accepts the transaction's blockhash now. */
export const checkBlockhash = Effect.fnUntraced(function* ({
  blockhash,
  signature,
}: WireTransaction) {
  const broadcaster = yield* Broadcaster;
  if (!(yield* broadcaster.isBlockhashValid(blockhash)))
    return yield* new BlockhashExpired({ signature });
}, orTwoRefuse);

const checkFeePayer = Effect.fnUntraced(function* (transaction: WireTransaction) {
  const broadcaster = yield* Broadcaster;
  const ledger = yield* Ledger;
  const { feePayer, signature } = transaction;
  const [feeLamports, { value }] = yield* Effect.all(
    [
      broadcaster.fee(transaction.message),
      ledger.readAccounts([feePayer, RENT_SYSVAR], "confirmed"),
    ],
    { concurrency: "unbounded" },
  );
  if (feeLamports === null) return yield* new BlockhashExpired({ signature });
  const [payer = null, rent = null] = value;
  const fault = feePayerFault(payer, decodeRentSysvar(rent), feeLamports);
  if (fault === null) return;
  return yield* "error" in fault
    ? rejected(transaction, fault.error, [])
    : new FeePayerCannotPay({ feePayer, feeLamports, signature, ...fault });
}, orTwoRefuse);

const checkInstructions = Effect.fnUntraced(function* (transaction: WireTransaction) {
  const accounts = yield* resolveTables(transaction);
  yield* checkBetaLimits(transaction, accounts);
  yield* checkSettlement(transaction, accounts);
}, orTwoRefuse);

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
}, orTwoRefuse);

/**
 * Refuses a transaction that cannot land in any block, or that fails before its first instruction, so that it does not
 * wait in the queue. Ignores every other result of the simulation, and a node that does not answer in time.
 */
const checkThatItRuns = Effect.fnUntraced(
  function* (transaction: WireTransaction, bytes: Uint8Array) {
    const broadcaster = yield* Broadcaster;
    const { error, logs } = yield* broadcaster.simulate(bytes);
    if (error !== null && neverRuns(transaction, error, logs))
      return yield* rejected(transaction, error, logs);
  },
  orTwoRefuse,
  Effect.timeoutOption(Duration.millis(RELAY_POLICY.simulationPatienceMs)),
  Effect.catchTag(["LedgerUnavailable", "LedgerTimeout"], () => Effect.void),
  Effect.asVoid,
);

const isLedgerFailure = (failure: { readonly _tag: string }): boolean =>
  failure._tag === "LedgerUnavailable" || failure._tag === "LedgerTimeout";

/**
 * Every other check against the ledger, once `checkBlockhash` has passed. Returns a confirmed slot from before the
 * sending, and a block height above which the transaction cannot land. The blockhash is checked before the tip is read,
 * so its block is not above that tip.
 */
const preflightRelay = Effect.fn("preflightRelay")(function* (
  transaction: WireTransaction,
  bytes: Uint8Array,
  skipVerdict: boolean,
) {
  const ledger = yield* Ledger;
  // The checks run concurrently. The first failure in this order is reported, so that the answer is stable.
  const [feePayer, instructions] = yield* Effect.all(
    [Effect.result(checkFeePayer(transaction)), Effect.result(checkInstructions(transaction))],
    { concurrency: "unbounded" },
  );
  // What contradicts the index or the relay, or is not answered, makes the other refusal doubtful.
  if (instructions._tag === "Failure" && isLedgerFailure(instructions.failure))
    return yield* instructions.failure;
  yield* Effect.fromResult(feePayer);
  yield* Effect.fromResult(instructions);
  const [{ slot, blockHeight }] = yield* Effect.all(
    [
      ledger.tip("confirmed"),
      skipVerdict ? checkThatItRuns(transaction, bytes) : checkBySimulation(transaction, bytes),
    ],
    { concurrency: "unbounded" },
  );
  return { openedAtSlot: slot, lastValidBlockHeight: blockHeight + BLOCKHASH_AGE };
});

/**
 * Runs `preflightRelay`. When a check or the simulation fails, the extra cost is charged to `feePayer` and `client`,
 * unless they are null.
 */
export const chargedPreflight = (
  { transaction, bytes }: { readonly transaction: WireTransaction; readonly bytes: Uint8Array },
  skipVerdict: boolean,
  { feePayer, client }: { readonly feePayer: Address | null; readonly client: string | null },
) =>
  preflightRelay(transaction, bytes, skipVerdict).pipe(
    Effect.tapErrorTag(["SettlementCheckFailed", "TransactionRejected"], () =>
      chargeFailedPreflight(feePayer, client),
    ),
  );
