import type { LiveEscrow } from "../generated/contract.ts";
import { jsonOf, problemOf, type Requests } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";
import type { PaymentTerms } from "./payment-terms.ts";

/** What stands at an escrow's address: null when nothing ever did. */
export const escrowNow = async (
  requests: Requests,
  escrow: string,
  signal?: AbortSignal,
): Promise<"archived" | LiveEscrow | null> => {
  const answer = await requests.answer(`/v1/escrows/${escrow}`, { signal });
  if (answer.status === 404) return null;
  if (answer.status === 410) return "archived";
  if (answer.status !== 200) throw problemOf(answer);
  return (jsonOf(answer) as { readonly data: LiveEscrow }).data;
};

/** Compares the escrow of a task and nonce with the terms of a payment. @throws SettlementError `another_payment` with every difference. */
export const requireSame = (found: LiveEscrow, terms: PaymentTerms): void => {
  const ttl = (Date.parse(found.expires_at) - Date.parse(found.created_at)) / 1000;
  const sides = [
    ["escrow", terms.escrow, found.escrow_pda],
    ["agent", terms.agent, found.agent_owner],
    ["task hash", terms.taskHash, found.task_hash],
    ["merchant", terms.merchant, found.merchant],
    ["mint", terms.mint.address, found.mint],
    ["amount", terms.amount.toString(), found.amount_stroops],
    ["ttl", `${terms.ttlSeconds}`, `${ttl}`],
    ["attestor", terms.attestor ?? found.attestor, found.attestor],
  ].filter(([, asked, there]) => asked !== there);
  if (sides.length > 0)
    throw new SettlementError(
      "another_payment",
      `This task and nonce were paid on other terms: ${sides.map(([what, asked, there]) => `${what} asked ${asked}, escrowed ${there}`).join("; ")}.`,
      "Use another nonce for another payment.",
    );
};
