import type { LiveEscrow } from "../generated/contract.ts";
import { formatUnixTime } from "../../core/domain/unix-time.ts";
import { requestOf } from "../service/operation.ts";
import {
  type Answer,
  type ClientClock,
  dataOf,
  problemOf,
  type Requests,
} from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";
import type { PaymentTerms } from "./payment-terms.ts";

/** What an escrow says of the payment that it holds, as a service shows it. */
export type EscrowTerms = Pick<
  LiveEscrow,
  | "escrow_pda"
  | "agent_owner"
  | "task_hash"
  | "merchant"
  | "mint"
  | "amount_stroops"
  | "attestor"
  | "created_at"
  | "expires_at"
  | "session_key"
>;

/** Reads of a transaction that should be confirmed within seconds, and the pause between them. */
const CONFIRMING_LOOKS = 40;
const CONFIRMING_MS = 500;

const SEQUENCE = /^[1-9][0-9]{0,19}$/;
const DIGEST = /^[0-9a-f]{64}$/;
const FINAL = new Set(["Fulfilled", "PartiallyFulfilled", "Refunded"]);

/**
 * Whether an answer shows the tombstone of an archived escrow. The status alone proves nothing, because a proxy can
 * also answer 410.
 */
const isTombstone = (answer: Answer): boolean => {
  const { code, problem } = problemOf(answer);
  const archived = problem?.["archived"];
  if (code !== "archived_unseen" || typeof archived !== "object" || archived === null) return false;
  const text = (name: string): string => {
    const value = (archived as Readonly<Record<string, unknown>>)[name];
    return typeof value === "string" ? value : "";
  };
  const [created, settled] = [text("created_seq"), text("settled_seq")];
  return (
    FINAL.has(text("state")) &&
    SEQUENCE.test(created) &&
    SEQUENCE.test(settled) &&
    BigInt(created) < BigInt(settled) &&
    DIGEST.test(text("digest")) &&
    DIGEST.test(text("pending_digest"))
  );
};

/**
 * What stands at an escrow's address: `archived` when it is a tombstone whose escrow the service cannot show, null when
 * nothing ever did. @throws SettlementError when the service does not say.
 */
export const escrowNow = async (
  requests: Requests,
  escrow: string,
  signal?: AbortSignal,
): Promise<"archived" | LiveEscrow | null> => {
  const answer = await requests.answer(
    ...requestOf("GET /v1/escrows/{pda}", { pda: escrow }, { signal }),
  );
  if (answer.status === 404) return null;
  if (answer.status === 410 && isTombstone(answer)) return "archived";
  if (answer.status !== 200) throw problemOf(answer);
  return dataOf(answer) as LiveEscrow;
};

/** Repeats `look` until it shows something, for as long as a confirmation can take; null when it never does. */
export const onceThere = async <A>(
  look: () => Promise<A | null>,
  clock: ClientClock,
  signal?: AbortSignal,
): Promise<A | null> => {
  for (let looks = 1; ; looks++) {
    const shown = await look();
    if (shown !== null || looks >= CONFIRMING_LOOKS) return shown;
    await clock.pause(CONFIRMING_MS, signal);
  }
};

/**
 * Compares the escrow of a task and nonce with the terms of a payment. @throws SettlementError `another_payment` with
 * every difference.
 */
export const requireSame = (escrow: EscrowTerms, terms: PaymentTerms): void => {
  const ttl = (Date.parse(escrow.expires_at) - Date.parse(escrow.created_at)) / 1000;
  const end =
    terms.expiresAt === null
      ? (["ttl", `${terms.ttlSeconds}`, `${ttl}`] as const)
      : (["expires_at", formatUnixTime(terms.expiresAt), escrow.expires_at] as const);
  const sides = [
    ["escrow", terms.escrow, escrow.escrow_pda],
    ["agent", terms.agent, escrow.agent_owner],
    ["task hash", terms.taskHash, escrow.task_hash],
    ["merchant", terms.merchant, escrow.merchant],
    ["mint", terms.mint.address, escrow.mint],
    ["amount", terms.amount.toString(), escrow.amount_stroops],
    end,
    ["session key", terms.sessionKey ?? "none", escrow.session_key ?? "none"],
    ["attestor", terms.attestor ?? escrow.attestor, escrow.attestor],
  ].filter(([, wanted, held]) => wanted !== held);
  if (sides.length > 0)
    throw new SettlementError(
      "another_payment",
      `This task and nonce were paid on other terms: ${sides.map(([what, wanted, held]) => `${what} asked ${wanted}, escrowed ${held}`).join("; ")}.`,
      "Use another nonce for another payment.",
    );
};
