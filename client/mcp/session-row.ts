import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { formatUnixTime } from "../../core/domain/unix-time.ts";
import { decodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { deploymentIn } from "../pay/payment-terms.ts";
import { addressNamed } from "../pinned-policy.ts";
import type { AgentState, SessionOpening } from "../sessions/agent/session-journal.ts";

/** Why nothing is known of a session's file. */
type Unknown = "in_use" | "unreadable";

/** A session as its file has it. Amounts are base units, decimal. */
export type SessionRow = {
  /** The escrow. */
  readonly session: string;
  /**
   * `unsigned`: not seen on the ledger yet. Of one that is `in_use`, by another process, and of an `unreadable` one
   * nothing else is known.
   */
  readonly state: "unsigned" | "open" | "closed" | "stopped" | Unknown;
  readonly merchant: string | null;
  readonly origin: string | null;
  readonly mint: string | null;
  readonly budget: string | null;
  readonly used: string | null;
  readonly calls: number | null;
  /** RFC 3339; null before the session is open. */
  readonly expires_at: string | null;
};

/** What a look at a session's file gave. */
export type LookedAt = AgentState | Unknown;

const expiryOf = (
  policy: TrustPolicy,
  { account }: SessionOpening,
  session: string,
): string | null => {
  if (account === null) return null;
  const deployment = deploymentIn(policy);
  const decoded = decodeEscrowAccount(
    {
      owner: deployment.custodyProgram,
      data: decodeBase64(account) ?? new Uint8Array(),
      address: addressNamed(session, "session"),
    },
    deployment,
  );
  return "value" in decoded ? formatUnixTime(decoded.value.expiresAt) : null;
};

const NOT_KNOWN = {
  merchant: null,
  origin: null,
  mint: null,
  budget: null,
  used: null,
  calls: null,
  expires_at: null,
} as const;

/** A session as a row of a list; none for a file without an opening. */
export const rowOf = (
  policy: TrustPolicy,
  session: string,
  looked: LookedAt,
): ReadonlyArray<SessionRow> => {
  if (typeof looked === "string") return [{ session, state: looked, ...NOT_KNOWN }];
  const { opening, head, closing, stopped } = looked;
  if (opening === null) return [];
  const { account, merchant, origin = null, mint, budget } = opening;
  return [
    {
      session,
      state:
        stopped !== null
          ? "stopped"
          : closing !== null
            ? "closed"
            : account === null
              ? "unsigned"
              : "open",
      merchant,
      origin,
      mint,
      budget,
      used: (head?.receipt.delivery.totalAfter ?? 0n).toString(),
      calls: head?.voucher.count ?? 0,
      expires_at: expiryOf(policy, opening, session),
    },
  ];
};
