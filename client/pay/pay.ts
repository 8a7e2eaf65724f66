import type { Address } from "../../core/domain/address.ts";
import type { ProgramError } from "../generated/contract.ts";
import { SettlementError } from "../settlement-error.ts";
import type { AcceptedSigner } from "../signing/sign-transaction.ts";
import type { EscrowOnLedger } from "./escrow-on-ledger.ts";
import { escrowNow, onceThere, requireSame } from "./escrow-there.ts";
import { lockingTransaction } from "./locking-transaction.ts";
import { type Payment, paymentTerms, type PaymentTerms } from "./payment-terms.ts";
import type { PrepareContext } from "./prepared-transaction.ts";
import { relayUntilKnown } from "./relay.ts";

/** What paying needs beside the payment. */
export type PayContext = PrepareContext & {
  /** Throws when the payment is beyond the limits. */
  readonly allow: (terms: PaymentTerms) => Promise<void>;
  /** Proves a payment by nodes of the caller's choice; null where none is named. */
  readonly onLedger: EscrowOnLedger | null;
  /**
   * Whether the caller has seen that nothing is at the escrow's address. It is then read only once the service refuses the
   * payment.
   */
  readonly isFree?: boolean;
};

/** A payment that is locked in its escrow. `terms` says whether the ledger or only the service shows that. */
export type Paid = {
  readonly escrow: string;
  readonly nonce: string;
  /** Base units, decimal. */
  readonly amount: string;
  readonly mint: string;
  /** The transaction that locked it, by the service's word; null when the escrow was there already. */
  readonly signature: string | null;
  /**
   * `same`: a node of `rpc` shows the escrow on the ledger with the terms of the payment. `unproven`: only the service
   * says so. Either no node was named, or the escrow was archived, a week or more after its settlement. Its tombstone
   * proves only agent, task and nonce.
   */
  readonly terms: "same" | "unproven";
};

/** Transactions of one payment. Each further one needs proof that the last can no longer land. */
const MOST_TRANSACTIONS = 5;

/** The program's error in a problem. */
type Refusal = { readonly program_error?: ProgramError | null };

/**
 * Whether the escrow exists after a failure. When a program refused because the escrow exists, another process made it
 * a moment ago, and reads show it once it is confirmed.
 */
const escrowAfter = async (
  context: PayContext,
  terms: PaymentTerms,
  refusal: ProgramError | null,
  signal?: AbortSignal,
): Promise<boolean> => {
  const { requests } = context;
  const look = () => escrowNow(requests, terms.escrow, signal);
  const there = refusal?.name === "EscrowExists" ? onceThere(look, requests.clock, signal) : look();
  return (await there) !== null;
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
  const outcome = await relayUntilKnown(context, signed, signal);
  return { signature: signed.signature, outcome };
};

/**
 * Locks a payment in its escrow and returns once that is confirmed. When it is run again with the same nonce, it
 * finds the escrow and pays nothing more. Agent, task and nonce determine the escrow's address, and the ledger accepts
 * only one escrow at an address, ever. With a session key it is the budget of a session. @throws SettlementError, and what the signal was aborted with.
 */
export const pay = async (
  context: PayContext,
  payment: Payment & {
    readonly signer: AcceptedSigner;
    readonly signal?: AbortSignal | undefined;
  },
  sessionKey: Address | null = null,
): Promise<Paid> => {
  const { signer, signal } = payment;
  const terms = paymentTerms(payment, signer.address, context.policy, sessionKey);
  const paid = async (signature: string | null): Promise<Paid> => {
    const shown = await context.onLedger?.(terms.escrow, signal);
    const isShown = shown !== undefined && shown !== "archived";
    if (isShown) requireSame(shown, terms);
    return {
      escrow: terms.escrow,
      nonce: terms.nonce,
      amount: terms.amount.toString(),
      mint: terms.mint.address,
      signature,
      terms: isShown ? "same" : "unproven",
    };
  };
  for (let made = 0; made < MOST_TRANSACTIONS; made++) {
    // Nothing can be there under a nonce that was drawn for this payment.
    const isNew = (context.isFree === true || payment.nonce === undefined) && made === 0;
    const existing = isNew ? null : await escrowNow(context.requests, terms.escrow, signal);
    if (existing !== null) {
      if (existing !== "archived") requireSame(existing, terms);
      return paid(null);
    }
    await context.allow(terms);
    const tried = await lockAndRelay(context, terms, signer, signal).catch(
      async (cause: unknown) => {
        // A problem of the service can mean that another transaction of the same payment was first.
        if (!(cause instanceof SettlementError) || cause.status === null) throw cause;
        const { program_error: error } = (cause.problem ?? {}) as Refusal;
        if (await escrowAfter(context, terms, error ?? null, signal)) return null;
        // These bytes can no longer land, and the ledger accepts only one escrow of this nonce. So another transaction
        // is safe.
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
