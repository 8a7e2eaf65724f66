import type { RelayOutcome } from "../generated/contract.ts";
import { dataOrNull, requestOf } from "../service/operation.ts";
import { problemOf, type Requests } from "../service/requests.ts";
import { transactionCost } from "../signing/expected-transaction.ts";
import type { SignedTransaction } from "../signing/sign-transaction.ts";
import type { PrepareContext } from "./prepared-transaction.ts";

const FIRST_LOOK_MS = 500;
const LAST_LOOK_MS = 5_000;

/**
 * Sends the transaction to the relay. False while the relay is still busy with the same bytes, from another process or
 * from an attempt whose answer was lost. @throws SettlementError when the relay refuses it.
 */
const isTaken = async (
  requests: Requests,
  { base64, signature }: SignedTransaction,
  signal?: AbortSignal,
): Promise<boolean> => {
  const answer = await requests.answer(
    ...requestOf(
      "POST /v1/relay",
      { signed_transaction: base64, confirm: true },
      { headers: { "idempotency-key": signature }, signal },
    ),
  );
  if (answer.status >= 200 && answer.status <= 299) return true;
  const failure = problemOf(answer);
  if (failure.code !== "idempotency_key_in_flight") throw failure;
  return false;
};

/** What became of a signature; null while the relay does not know it, as in the moment before it has taken it. */
const outcomeNow = (
  requests: Requests,
  signature: string,
  signal?: AbortSignal,
): Promise<RelayOutcome | null> =>
  dataOrNull(requests, "GET /v1/relay/{signature}", { signature }, { signal });

/**
 * Relays a signed transaction and asks for its outcome until it is known: `landed`, with or without an error, or
 * `expired`. The same bytes are sent again after a lost answer, which is always safe. @throws SettlementError when the
 * relay refuses it.
 */
export const relayUntilKnown = async (
  { requests, charged }: Pick<PrepareContext, "requests" | "charged">,
  signed: SignedTransaction,
  signal?: AbortSignal,
): Promise<RelayOutcome> => {
  let taken = false;
  for (let wait = FIRST_LOOK_MS; ; wait = Math.min(wait * 2, LAST_LOOK_MS)) {
    taken ||= await isTaken(requests, signed, signal);
    const outcome = await outcomeNow(requests, signed.signature, signal);
    // A relay that does not know the transaction gets it again, even if it was accepted before.
    if (outcome === null) taken = false;
    else if (outcome.status === "expired") return outcome;
    else if (outcome.status === "landed" && outcome.commitment !== "processed") {
      await charged?.(transactionCost(signed.base64));
      return outcome;
    }
    await requests.clock.pause(wait, signal);
  }
};
