import { Duration, Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { BLOCKHASH_AGE } from "../../domain/relay/relay-entry.ts";
import { RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import { readCalls } from "../../protocol/instructions/program-call.ts";
import { feePayerFault, wireTransactionFee } from "../../protocol/rules/lamport-rules.ts";
import { neverRuns } from "../../protocol/transaction/never-runs.ts";
import { decodeRentSysvar } from "../../protocol/accounts/sysvars.ts";
import { CLOCK_SYSVAR, RENT_SYSVAR } from "../../protocol/addresses/well-known-addresses.ts";
import type { WireTransaction } from "../../protocol/transaction/wire-transaction.ts";
import { Broadcaster } from "../../../ports/ledger/broadcaster.ts";
import type { RecentBlockhash } from "../../../ports/ledger/blockspace.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { enforceBetaLimits } from "../escrow/beta-limits.ts";
import { ledgerTimeOf } from "../escrow/read-escrow.ts";
import { chargeFailedPreflight } from "./relay-admission.ts";
import {
  BlockhashExpired,
  FeePayerCannotPay,
  InstructionBeyondBetaLimit,
  rejected,
} from "./relay-errors.ts";
import {
  checkSettlement,
  readGround,
  type RelayGround,
  resolveTables,
} from "./settlement-precheck.ts";

type Accounts = Effect.Success<ReturnType<typeof resolveTables>>;

const NO_ACCOUNTS: Accounts = { addresses: [], isWritable: () => false };

/** How long the escrow of a `create_escrow` will live, seconds: one that names its end lives until then. */
const lifeOf = Effect.fnUntraced(function* (
  args: { readonly ttlSeconds: number; readonly expiresAt: UnixSeconds },
  { account }: RelayGround,
) {
  if (args.expiresAt === 0n) return args.ttlSeconds;
  return Number(args.expiresAt - (yield* ledgerTimeOf(account(CLOCK_SYSVAR))));
});

const checkBetaLimits = Effect.fnUntraced(function* (
  { instructions }: WireTransaction,
  { addresses }: Accounts,
  ground: RelayGround,
) {
  const { deployment, enforceBetaLimits: isEnforced } = yield* Instance;
  if (!isEnforced) return;
  const calls = readCalls(instructions, addresses, deployment);
  for (const [instructionIndex, call] of calls.entries()) {
    if (call?.name !== "create_escrow") continue;
    const { amount } = call.args;
    const ttlSeconds = yield* lifeOf(call.args, ground);
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
});

/**
 * Fails when the payer cannot pay by what `account` shows. A node is asked for the fee where the transaction itself
 * does not tell it, and before a refusal.
 */
const checkFeePayer = Effect.fnUntraced(function* (
  transaction: WireTransaction,
  { account }: RelayGround,
) {
  const broadcaster = yield* Broadcaster;
  const { feePayer, signature } = transaction;
  const faultAt = (feeLamports: bigint) =>
    feePayerFault(account(feePayer), decodeRentSysvar(account(RENT_SYSVAR)), feeLamports);
  const reckoned = wireTransactionFee(transaction);
  if (reckoned !== null && faultAt(reckoned) === null) return;
  const feeLamports = yield* broadcaster.fee(transaction.message);
  if (feeLamports === null) return yield* new BlockhashExpired({ signature });
  const fault = faultAt(feeLamports);
  if (fault === null) return;
  return yield* "error" in fault
    ? rejected(transaction, fault.error, [])
    : new FeePayerCannotPay({ feePayer, feeLamports, signature, ...fault });
});

/** The checks by the accounts of one read, which names the fee payer as well. The first failure is always the same. */
const checkAccounts = Effect.fnUntraced(function* (transaction: WireTransaction) {
  const others = [transaction.feePayer, RENT_SYSVAR];
  const accounts = yield* resolveTables(transaction).pipe(
    Effect.tapErrorTag("LookupTableNotAllowed", () =>
      Effect.flatMap(
        readGround({ ...transaction, instructions: [] }, NO_ACCOUNTS, others),
        (ground) => checkFeePayer(transaction, ground),
      ),
    ),
  );
  const ground = yield* readGround(transaction, accounts, others);
  yield* checkFeePayer(transaction, ground);
  yield* checkBetaLimits(transaction, accounts, ground);
  yield* checkSettlement(transaction, accounts, ground);
});

/** Returns whether the ledger has run the transaction already. */
const checkBySimulation = Effect.fnUntraced(function* (
  transaction: WireTransaction,
  bytes: Uint8Array,
) {
  const broadcaster = yield* Broadcaster;
  const { error, logs } = yield* broadcaster.simulate(bytes);
  if (error === null) return false;
  if (error.kind === "AlreadyProcessed") return true;
  if (error.kind === "BlockhashNotFound")
    return yield* new BlockhashExpired({ signature: transaction.signature });
  return yield* rejected(transaction, error, logs);
});

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
  Effect.timeoutOption(Duration.millis(RELAY_POLICY.simulationPatienceMs)),
  Effect.catchTag(["LedgerUnavailable", "LedgerTimeout"], () => Effect.void),
  Effect.as(false),
);

/** A confirmed slot from before the sending, and a block height above which the transaction cannot land. */
const lifetimeOf = Effect.fnUntraced(function* (known: RecentBlockhash | null) {
  if (known !== null)
    return { openedAtSlot: known.slot, lastValidBlockHeight: known.lastValidBlockHeight };
  const ledger = yield* Ledger;
  const { slot, blockHeight } = yield* ledger.tip("confirmed");
  return { openedAtSlot: slot, lastValidBlockHeight: blockHeight + BLOCKHASH_AGE };
});

/**
 * Every other check against the ledger, once the blockhash is known to be valid. Returns a confirmed slot from before
 * the sending, a block height above which the transaction cannot land, and whether the ledger has run it already. `known` is what a node has told of the
 * blockhash lately; without it the tip is read, after the blockhash was checked, so that its block is not above that
 * tip.
 */
export const preflightRelay = Effect.fn("preflightRelay")(function* (
  { transaction, bytes }: { readonly transaction: WireTransaction; readonly bytes: Uint8Array },
  skipVerdict: boolean,
  known: RecentBlockhash | null,
) {
  yield* checkAccounts(transaction);
  const [lifetime, isProcessed] = yield* Effect.all(
    [
      lifetimeOf(known),
      skipVerdict ? checkThatItRuns(transaction, bytes) : checkBySimulation(transaction, bytes),
    ],
    { concurrency: "unbounded" },
  );
  return { lifetime, isProcessed };
});

/** Charges the extra cost of a check or a simulation that failed to `feePayer` and `client`, unless they are null. */
export const chargingFailure =
  ({ feePayer, client }: { readonly feePayer: Address | null; readonly client: string | null }) =>
  <A, E extends { readonly _tag: string }, R>(preflight: Effect.Effect<A, E, R>) =>
    Effect.tapError(preflight, ({ _tag }) =>
      _tag === "SettlementCheckFailed" || _tag === "TransactionRejected"
        ? chargeFailedPreflight(feePayer, client)
        : Effect.void,
    );
