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
import { type AnswerSource, LastAnswer, Ledger } from "../../../ports/ledger/ledger.ts";
import { enforceBetaLimits } from "../escrow/beta-limits.ts";
import { ledgerTimeOf } from "../escrow/read-escrow.ts";
import { orTwoSayNo } from "../or-ask-another.ts";
import { chargeFailedPreflight } from "./relay-admission.ts";
import {
  BlockhashExpired,
  FeePayerCannotPay,
  InstructionBeyondBetaLimit,
  type LookupTableNotAllowed,
  rejected,
} from "./relay-errors.ts";
import {
  checkSettlement,
  readGround,
  type RelayGround,
  resolveTables,
} from "./settlement-precheck.ts";

type Accounts = Effect.Success<ReturnType<typeof resolveTables>>;

/** Has two nodes refuse a transaction, where two are configured. */
const orTwoRefuse = orTwoSayNo(
  "BlockhashExpired",
  "FeePayerCannotPay",
  "LookupTableNotAllowed",
  "SettlementCheckFailed",
  "TransactionRejected",
);
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
}, orTwoRefuse);

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

/** What the checks by accounts read, and of which node. */
type Shown = {
  /** The failure where an address table lacks something. */
  readonly accounts: Accounts | LookupTableNotAllowed;
  readonly ground: RelayGround;
  readonly source: AnswerSource | null;
};

/** One read names the accounts of the instructions, the fee payer and the rent. */
const readShown = Effect.fnUntraced(function* (transaction: WireTransaction) {
  const accounts = yield* resolveTables(transaction).pipe(
    Effect.catchTag("LookupTableNotAllowed", (failure) => Effect.succeed(failure)),
  );
  const others = [transaction.feePayer, RENT_SYSVAR];
  const ground = yield* "_tag" in accounts
    ? readGround({ ...transaction, instructions: [] }, NO_ACCOUNTS, others)
    : readGround(transaction, accounts, others);
  const shown: Shown = { accounts, ground, source: (yield* LastAnswer)?.source ?? null };
  return shown;
});

/** Reads what the checks need, and checks the fee payer by it. */
const checkPayer = Effect.fnUntraced(function* (transaction: WireTransaction) {
  const shown = yield* readShown(transaction);
  yield* checkFeePayer(transaction, shown.ground);
  return shown;
}, orTwoRefuse);

const checkInstructions = Effect.fnUntraced(function* (
  transaction: WireTransaction,
  { accounts, ground }: Shown,
) {
  if ("_tag" in accounts) return yield* accounts;
  yield* checkBetaLimits(transaction, accounts, ground);
  yield* checkSettlement(transaction, accounts, ground);
});

/**
 * The checks by the accounts of one read. Each refusal counts once two nodes have come to it, where two are configured;
 * only then there is another read. The first failure is always the same: what contradicts the index or the relay, or is
 * not answered, makes every refusal doubtful; then the fee payer's, then the instructions'.
 */
const checkAccounts = Effect.fnUntraced(function* (transaction: WireTransaction) {
  let first: Shown | null = yield* checkPayer(transaction);
  const check = Effect.gen(function* () {
    const shown = first ?? (yield* readShown(transaction));
    if (first !== null) {
      // The first judgement needs no read of its own, and is that node's all the same.
      const note = yield* LastAnswer;
      if (note !== null) note.source = first.source;
      first = null;
    }
    yield* checkInstructions(transaction, shown);
  });
  yield* orTwoRefuse(check);
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
 * the sending, a block height above which the transaction cannot land, and whether the ledger has run it already.
 * `known` is what a node has told of the blockhash lately; without it the tip is read, after the blockhash was checked,
 * so that its block is not above that tip.
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
