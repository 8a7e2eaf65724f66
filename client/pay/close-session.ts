import type { Address } from "../../core/domain/address.ts";
import { closeSessionInstruction } from "../../core/protocol/instructions/custody-instructions.ts";
import type { ProgramError } from "../generated/contract.ts";
import { addressNamed } from "../pinned-policy.ts";
import { SettlementError } from "../settlement-error.ts";
import { type AcceptedSigner, signTransaction } from "../signing/sign-transaction.ts";
import { escrowNow, onceThere } from "./escrow-there.ts";
import { type PrepareContext, preparedTransaction } from "./prepared-transaction.ts";
import { relayUntilKnown } from "./relay.ts";

/** Transactions of one closing. Each further one needs proof that the last can no longer land. */
const MOST_TRANSACTIONS = 5;

/** Whether a session is closing already, or over. */
const isClosing = async (
  { requests }: PrepareContext,
  escrow: Address,
  signal?: AbortSignal,
): Promise<boolean> => {
  const live = await escrowNow(requests, escrow, signal);
  return (
    live === "archived" || (live !== null && (live.state !== "Pending" || live.closes_at !== null))
  );
};

/** The errors of the program by which a session is closing already, or settled. */
const CLOSED: ReadonlySet<unknown> = new Set(["NotPending", "SessionClosing"]);

/** Whether a refusal comes of a session that is closing. What a program saw a moment ago, reads show once confirmed. */
const isClosedBy = async (
  context: PrepareContext,
  escrow: Address,
  cause: unknown,
  signal?: AbortSignal,
): Promise<boolean> => {
  if (!(cause instanceof SettlementError)) return false;
  const look = () => isClosing(context, escrow, signal);
  const { program_error: error } = (cause.problem ?? {}) as {
    readonly program_error?: ProgramError | null;
  };
  if (!CLOSED.has(error?.name)) return look();
  const shown = async () => ((await look()) ? true : null);
  return (await onceThere(shown, context.requests.clock, signal)) ?? false;
};

/**
 * Closes a session on the ledger by its agent's wallet, which needs nobody for it: it ends within 900 s, in which the
 * seller captures what it has coming. Safe to run again after any failure. @throws SettlementError, and what the signal
 * was aborted with.
 */
export const closeSession = async (
  context: PrepareContext,
  escrow: Address,
  signer: AcceptedSigner,
  signal?: AbortSignal,
): Promise<void> => {
  const agent = addressNamed(signer.address, "signer");
  for (let made = 0; made < MOST_TRANSACTIONS; made++) {
    if (await isClosing(context, escrow, signal)) return;
    const transaction = await preparedTransaction(
      context,
      "POST /v1/escrows/{pda}/close/prepare?transaction=true",
      { pda: escrow, payer: agent },
      (deployment) => [closeSessionInstruction(deployment, { escrow, agentOwner: agent })],
      signal,
    );
    const signed = await signTransaction(transaction, [signer]);
    const outcome = await relayUntilKnown(context, signed, signal).catch(async (cause: unknown) => {
      // Refused, because another process has closed it, or because it was settled in between.
      if (await isClosedBy(context, escrow, cause, signal)) return null;
      throw cause;
    });
    if (outcome === null || (outcome.status === "landed" && outcome.error === null)) return;
    if (outcome.status !== "landed" || (await isClosing(context, escrow, signal))) continue;
    throw new SettlementError(
      outcome.program_error?.name ?? "close_failed",
      `The ledger refused to close the session: ${outcome.program_error?.message ?? JSON.stringify(outcome.error)}.`,
      "Nothing was spent but the fee. Mend what it names and run the same again.",
      { problem: { outcome } },
    );
  }
  throw new SettlementError(
    "close_expired",
    `${MOST_TRANSACTIONS} transactions expired before they could land.`,
    "The session is as it was. The ledger may be busy: run the same again.",
  );
};
