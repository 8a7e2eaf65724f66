import { type Address, addressToBytes } from "../../domain/address.ts";
import { FAST_PARTS } from "../../domain/encoding/fast/fast-parts.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import { AccountRole, type Instruction } from "../../domain/ledger/instruction.ts";
import type { TransactionError } from "../../domain/relay/relay-entry.ts";
import type { Rent } from "../accounts/sysvars.ts";
import { computeRequest } from "../instructions/compute-budget.ts";
import type { WireTransaction } from "../transaction/wire-transaction.ts";
import { ED25519_PROGRAM, SYSTEM_PROGRAM } from "../addresses/well-known-addresses.ts";

/** Why an account cannot pay a fee: what it is, or what it holds. */
type FeePayerFault =
  | { readonly error: TransactionError }
  | {
      readonly balanceLamports: bigint;
      /** Null when the rent is not known. */
      readonly rentMinimumLamports: bigint | null;
    };

/** Bytes of a durable nonce account (Agave `nonce/state.rs`: `State::size`). */
const NONCE_LENGTH = 80;

const INVALID_ACCOUNT: FeePayerFault = {
  error: {
    kind: "InvalidAccountForFee",
    instructionIndex: null,
    instructionError: null,
    customCode: null,
  },
};

/**
 * Why a ledger does not let this account pay a fee in its present state, null when no reason is known
 * (Agave `svm/src/account_loader.rs`: `validate_fee_payer`). The payer must belong to the System program and
 * hold no data or a nonce; after the fee it must keep the rent minimum or, without data, nothing at all.
 */
export const feePayerFault = (
  account: LedgerAccount | null,
  rent: Rent | undefined,
  feeLamports: bigint,
): FeePayerFault | null => {
  const balanceLamports = account?.lamports ?? 0n;
  if (account === null || balanceLamports === 0n)
    return feeLamports > 0n ? { balanceLamports, rentMinimumLamports: null } : null;
  const { length } = account.data;
  if (account.owner !== SYSTEM_PROGRAM || (length !== 0 && length !== NONCE_LENGTH))
    return INVALID_ACCOUNT;
  const rentMinimumLamports = rent?.minimumBalance(length) ?? null;
  const left = balanceLamports - feeLamports;
  const canPay = left === 0n ? length === 0 : left > 0n && left >= (rentMinimumLamports ?? 0n);
  return canPay ? null : { balanceLamports, rentMinimumLamports };
};

/** What the ledger takes for each signature (Agave `fee-structure`: `lamports_per_signature`). */
const LAMPORTS_PER_SIGNATURE = 5000n;
/** Micro-lamports in a lamport. */
const MICRO = 1_000_000n;

/** Lamports to add so that an account of `bytes` bytes is exempt from rent; 0 when it holds enough. */
export const depositFor = (account: LedgerAccount | null, bytes: number, rent: Rent): bigint => {
  const missing = rent.minimumBalance(bytes) - (account?.lamports ?? 0n);
  return missing > 0n ? missing : 0n;
};

/**
 * The lamports of a settled escrow's account that `return_rent` gives to the rent payer: all above the account's own
 * rent. None to an executable one: the
 * runtime lets nobody change its lamports.
 */
export const returnableRent = (
  account: Pick<LedgerAccount, "lamports" | "data">,
  rentPayer: LedgerAccount | null,
  rent: Rent,
): bigint => {
  const spare = account.lamports - rent.minimumBalance(account.data.length);
  return spare > 0n && rentPayer?.executable !== true ? spare : 0n;
};

/** Everyone besides the payer who must sign the instructions, in order of appearance. */
export const otherSigners = (
  instructions: ReadonlyArray<Instruction>,
  payer: Address,
): ReadonlyArray<Address> => {
  const signers = instructions.flatMap(({ accounts }) =>
    accounts.flatMap(({ address, role }) =>
      role === AccountRole.readonlySigner || role === AccountRole.writableSigner ? [address] : [],
    ),
  );
  return [...new Set(signers)].filter((address) => address !== payer);
};

/**
 * The fee of a transaction of these instructions, in lamports: a price for each signature, including those that the
 * Ed25519 program checks (Agave `solana-message`: `num_total_signatures`), plus the requested compute units at their
 * price.
 */
export const transactionFee = (
  instructions: ReadonlyArray<Instruction>,
  payer: Address,
  priority: { readonly unitLimit: number; readonly unitPrice: bigint } | null = null,
): bigint => {
  const checked = instructions.reduce(
    // The first byte of the Ed25519 program's data counts its signatures.
    (sum, { programAddress, data }) =>
      programAddress === ED25519_PROGRAM ? sum + (data[0] ?? 0) : sum,
    0,
  );
  const signatures = 1 + otherSigners(instructions, payer).length + checked;
  const forUnits =
    priority === null ? 0n : BigInt(priority.unitLimit) * priority.unitPrice + MICRO - 1n;
  return LAMPORTS_PER_SIGNATURE * BigInt(signatures) + forUnits / MICRO;
};

/**
 * The fee of a whole transaction in lamports, by the rule of `transactionFee`; null where it sets a price without a
 * number of compute units, which the ledger then chooses.
 */
export const wireTransactionFee = ({
  instructions,
  signatures,
}: Pick<WireTransaction, "instructions" | "signatures">): bigint | null => {
  const { unitLimit, unitPrice } = computeRequest(instructions);
  const price = unitPrice ?? 0n;
  if (price > 0n && unitLimit === null) return null;
  const checked = instructions.reduce(
    (sum, { program, data }) => (program === ED25519_PROGRAM ? sum + (data[0] ?? 0) : sum),
    0,
  );
  const forUnits = (BigInt(unitLimit ?? 0) * price + MICRO - 1n) / MICRO;
  return LAMPORTS_PER_SIGNATURE * BigInt(signatures.length + checked) + forUnits;
};

/**
 * Why a payer cannot pay for a transaction, in words, with a balance that is enough, undefined when it can. It must pay
 * the fee by the relay's rule, then deposits, for which it must be a wallet without data. At the end it must hold the
 * rent minimum or nothing. `returned` is what this transaction pays back to it, null where a transaction of its own
 * makes the deposits: then the rent minimum must be there before anything comes back.
 */
export const payerFault = (
  account: LedgerAccount | null,
  rent: Rent,
  spent: { readonly fee: bigint; readonly deposits: bigint; readonly returned: bigint | null },
): string | undefined => {
  const { fee, deposits, returned } = spent;
  const held = account?.lamports ?? 0n;
  const minimum = rent.minimumBalance(account?.data.length ?? 0);
  const parts = [
    `the fee of ${fee}`,
    ...(deposits === 0n ? [] : [`deposits of ${deposits}`]),
    `the rent minimum of ${minimum}`,
  ];
  const sum = `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
  // One total, so that the payer is funded once.
  const poor = `the payer holds ${held} lamports; ${fee + deposits + minimum} are enough: ${sum}, which it keeps`;
  if (account !== null && !FAST_PARTS.isEdwardsPoint(addressToBytes(account.address)))
    return `the payer ${account.address} is not a wallet: it is no Ed25519 key, so nobody can sign for it`;
  if (account !== null && account.owner !== SYSTEM_PROGRAM)
    return `the payer ${account.address} belongs to the program ${account.owner} and cannot pay a fee`;
  if (feePayerFault(account, rent, fee) !== null) return poor;
  if (deposits === 0n) return undefined;
  if (account === null || account.owner !== SYSTEM_PROGRAM || account.data.length > 0)
    return "the payer's account holds data; only a wallet without data can pay for new accounts";
  const left = held - fee - deposits;
  const end = left + (returned ?? 0n);
  const isEnough = end >= rent.minimumBalance(0) || (end === 0n && returned !== null);
  return left >= 0n && isEnough ? undefined : poor;
};
