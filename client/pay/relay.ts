import type { RelayOutcome, RelayResult } from "../generated/contract.ts";
import { pause } from "../service/pause.ts";
import type { Requests } from "../service/requests.ts";
import type { SignedTransaction } from "../signing/sign-transaction.ts";

const FIRST_LOOK_MS = 500;
const LAST_LOOK_MS = 5_000;

/**
 * Relays a signed transaction and asks for its outcome until it is known: `landed`, with or without an error, or `expired`. The
 * same bytes are sent again after a lost answer, which is always safe. @throws SettlementError when the relay refuses it.
 */
export const relayUntilKnown = async (
  requests: Requests,
  { base64, signature }: SignedTransaction,
  signal?: AbortSignal,
): Promise<RelayOutcome> => {
  await requests.data<RelayResult>("/v1/relay", {
    body: { signed_transaction: base64, confirm: true },
    headers: { "idempotency-key": signature },
    signal,
  });
  for (let wait = FIRST_LOOK_MS; ; wait = Math.min(wait * 2, LAST_LOOK_MS)) {
    const outcome = await requests.data<RelayOutcome>(`/v1/relay/${signature}`, { signal });
    const isKnown =
      outcome.status === "expired" ||
      (outcome.status === "landed" && outcome.commitment !== "processed");
    if (isKnown) return outcome;
    await pause(wait, signal);
  }
};
