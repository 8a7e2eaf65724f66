/** What an answer comes to, where the truth is that a payment was made. */
export type Verdict =
  | "right"
  /** The caller asks again: nothing was denied. */
  | "retryable"
  /** A transaction was refused before it was sent. Nobody is told that a payment failed. */
  | "not_sent"
  /** What is there is denied. */
  | "false_no"
  /** An older state than the one that the relay called confirmed. */
  | "old_state"
  /** The payment may be made again, though it was made. */
  | "false_safe";

/** An answer of the service. */
export type Answer = { readonly status: number; readonly body: unknown };

type Problem = { readonly slot?: number; readonly safe_to_sign_again?: boolean };

const isRetryable = (status: number): boolean => status === 429 || status >= 500;

/** Of `POST /v1/relay` with a transaction that succeeds on the ledger. */
export const ofRelay = ({ status, body }: Answer): Verdict => {
  if (status === 202) return "right";
  if (isRetryable(status)) return "retryable";
  const { slot, safe_to_sign_again: isSafe } = body as Problem;
  if (isSafe === true) return "false_safe";
  return slot === undefined ? "not_sent" : "false_no";
};

/** Of `GET /v1/escrows/{pda}`, where the relay called the escrow's creation confirmed, or also its cancellation. */
export const ofEscrow = ({ status, body }: Answer, isCancelled: boolean): Verdict => {
  if (isRetryable(status)) return "retryable";
  if (status !== 200) return "false_no";
  const { data } = body as { readonly data: { readonly state: string } };
  return isCancelled && data.state === "Pending" ? "old_state" : "right";
};

/** Of `GET /v1/evidence/{pda}`: an escrow that is not final yet has no packet. */
export const ofEvidence = ({ status, body }: Answer): Verdict => {
  const { code } = body as { readonly code?: string };
  if (isRetryable(status) || code === "not_final_yet") return "retryable";
  return status === 200 ? "right" : "false_no";
};

/** Of `GET /v1/merchants/{wallet}` of a registered merchant. */
export const ofMerchant = ({ status }: Answer): Verdict =>
  isRetryable(status) ? "retryable" : status === 200 ? "right" : "false_no";

/** Of `GET /v1/relay/{signature}` of a transaction that landed without error, or that is under way. */
export const ofOutcome = ({ status, body }: Answer): Verdict => {
  if (isRetryable(status)) return "retryable";
  if (status !== 200) return "false_no";
  const { data } = body as {
    readonly data: {
      readonly status: string;
      readonly error: unknown;
      readonly safe_to_sign_again: boolean;
    };
  };
  if (data.safe_to_sign_again) return "false_safe";
  return data.error !== null || data.status === "expired" ? "false_no" : "right";
};
