import { type ForeignText, foreignText } from "../core/domain/encoding/foreign-text.ts";

/** The form of every code. */
const CODE = /^[A-Za-z0-9_]{1,64}$/;
/** The most characters of a message: both sides of a transaction that is not the one asked for are shown. */
const MOST_CHARACTERS = 16_384;

/**
 * What a call of the client can fail with; `code` is stable. Whatever a service or the ledger says in it is bounded and
 * in one line, fit for a terminal or a model.
 */
export class SettlementError extends Error {
  override readonly name = "SettlementError";
  /** A word for programs: one of the client's own, or the `code` of a problem that the service answered. */
  readonly code: string;
  /** What to do about it, one sentence. */
  readonly cure: ForeignText;
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
    super(
      foreignText(detail, MOST_CHARACTERS),
      more.cause === undefined ? {} : { cause: more.cause },
    );
    this.code = CODE.test(code) ? code : "unexpected_answer";
    this.cure = foreignText(cure, MOST_CHARACTERS);
    this.status = more.status ?? null;
    this.problem = more.problem ?? null;
  }
}
