/** What a call of the client can fail with; `code` is stable. */
export class SettlementError extends Error {
  override readonly name = "SettlementError";
  /** A word for programs: one of the client's own, or the `code` of a problem that the service answered. */
  readonly code: string;
  /** What to do about it, one sentence. */
  readonly cure: string;
  /** The HTTP status of the service's answer, null where there was none. */
  readonly status: number | null;
  /** The problem document of the answer (RFC 9457), null without one. */
  readonly problem: Readonly<Record<string, unknown>> | null;

  constructor(
    code: string,
    detail: string,
    cure: string,
    more: {
      readonly status?: number;
      readonly problem?: Readonly<Record<string, unknown>>;
      readonly cause?: unknown;
    } = {},
  ) {
    super(detail, more.cause === undefined ? {} : { cause: more.cause });
    this.code = code;
    this.cure = cure;
    this.status = more.status ?? null;
    this.problem = more.problem ?? null;
  }
}
