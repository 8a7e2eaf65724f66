import type { ProgramError } from "../generated/contract.ts";
import { SettlementError } from "../settlement-error.ts";
import type { AcceptedSigner } from "../signing/transaction-signer.ts";
import { escrowNow, requireSame } from "./escrow-there.ts";
import { type LockContext, lockingTransaction } from "./locking-transaction.ts";
import { type Payment, paymentTerms, type PaymentTerms } from "./payment-terms.ts";
import { relayUntilKnown } from "./relay.ts";

/** What paying needs beside the payment. */
export type PayContext = LockContext & {
  /** Throws when the payment is beyond the limits. */
  readonly allow: (terms: PaymentTerms) => Promise<void>;
};

/** A payment that is locked in its escrow. */
export type Paid = {
  readonly escrow: string;
  readonly nonce: string;
  /** Base units, decimal. */
  readonly amount: string;
  readonly mint: string;
  /** The transaction that locked it; null when the escrow was there already. */
  readonly signature: string | null;
  /**
   * `same`: the escrow has the terms that were asked for. `unproven`: it was settled and archived a week later, and the service does not have
   * its bytes, so that only agent, task and nonce are known to be the same.
   */
  readonly terms: "same" | "unproven";
};

/** Transactions of one payment. Each further one needs proof that the last can no longer land. */
const MOST_TRANSACTIONS = 5;
/** A transaction is confirmed within seconds; so often and so far apart it is looked for. */
const CONFIRMING_LOOKS = 40;
const CONFIRMING_MS = 500;

/** What a problem says of the program that refused. */
type Refusal = { readonly program_error?: ProgramError | null };

/**
 * Whether the escrow is there after a failure. What a program has refused because it is there, another process made a moment ago: reads
 * show it once it is confirmed.
 */
const escrowAfter = async (
  context: PayContext,
  terms: PaymentTerms,
  refusal: ProgramError | null,
  signal?: AbortSignal,
): Promise<boolean> => {
  const looks = refusal?.name === "EscrowExists" ? CONFIRMING_LOOKS : 1;
  for (let look = 1; ; look++) {
    if ((await escrowNow(context.requests, terms.escrow, signal)) !== null) return true;
    if (look >= looks) return false;
    await context.requests.clock.pause(CONFIRMING_MS, signal);
  }
};

/** One transaction of the payment: its signature, and what became of it. */
const lockAndRelay = async (
  context: PayContext,
  terms: PaymentTerms,
  signer: AcceptedSigner,
  signal?: AbortSignal,
) => {
  const signed = await lockingTransaction(context, terms, { signer, signal });
  signal?.throwIfAborted();
  const outcome = await relayUntilKnown(context.requests, signed, signal);
  return { signature: signed.signature, outcome };
};

/**
 * Locks a payment in its escrow and returns once that is confirmed. Run again with the same nonce, whatever happened before, it finds the
 * escrow and pays nothing more: agent, task and nonce are the escrow's address, and the ledger takes one at an address, ever. @throws
 * SettlementError, and what the signal was aborted with.
 */
export const pay = async (
  context: PayContext,
  payment: Payment & { readonly signer: AcceptedSigner; readonly signal?: AbortSignal },
): Promise<Paid> => {
  const { signer, signal } = payment;
  const terms = paymentTerms(payment, signer.address, context.policy);
  const paid = (signature: string | null): Paid => ({
    escrow: terms.escrow,
    nonce: terms.nonce,
    amount: terms.amount.toString(),
    mint: terms.mint.address,
    signature,
    terms: "same",
  });
  for (let made = 0; made < MOST_TRANSACTIONS; made++) {
    const found = await escrowNow(context.requests, terms.escrow, signal);
    if (found === "archived") return { ...paid(null), terms: "unproven" };
    if (found !== null) {
      requireSame(found, terms);
      return paid(null);
    }
    await context.allow(terms);
    const tried = await lockAndRelay(context, terms, signer, signal).catch(
      async (cause: unknown) => {
        // A problem of the service can mean that another transaction of the same payment was first.
        if (!(cause instanceof SettlementError) || cause.status === null) throw cause;
        const { program_error: error } = (cause.problem ?? {}) as Refusal;
        if (await escrowAfter(context, terms, error ?? null, signal)) return null;
        // These bytes can land no more, and the ledger takes one escrow of this nonce whatever else was sent: another transaction is safe.
        if (cause.code === "blockhash_expired") return null;
        throw cause;
      },
    );
    if (tried === null) continue;
    const { signature, outcome } = tried;
    if (outcome.status === "landed" && outcome.error === null) return paid(signature);
    if (await escrowAfter(context, terms, outcome.program_error, signal)) continue;
    if (outcome.status === "landed")
      throw new SettlementError(
        outcome.program_error?.name ?? "payment_failed",
        `The ledger refused the payment: ${outcome.program_error?.message ?? JSON.stringify(outcome.error)}.`,
        "Nothing was paid but the fee. Mend what it names and run the same again.",
        { problem: { outcome } },
      );
  }
  throw new SettlementError(
    "payment_expired",
    `${MOST_TRANSACTIONS} transactions expired before they could land.`,
    "Nothing was paid. The ledger may be busy: run the same again with the same nonce.",
  );
};
