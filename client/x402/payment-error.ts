import type { PaymentFault, Read } from "../../core/protocol/x402/payment-payload.ts";
import { SettlementError } from "../settlement-error.ts";

/** The value that was read. @throws SettlementError with the fault's code. */
export const valueOf = <A>(read: Read<A>): A => {
  if ("value" in read) return read.value;
  throw faultError(read.fault);
};

/** A fault as the client's error. */
export const faultError = ({ code, detail, cure }: PaymentFault): SettlementError =>
  new SettlementError(code, detail, cure);

/** What went wrong as code and one line that names mistake and cure. x402 shows nothing but an error's message. */
export const lineOf = (cause: unknown): { readonly code: string; readonly line: string } => {
  if (cause instanceof SettlementError)
    return { code: cause.code, line: `${cause.message} ${cause.cure}` };
  const message = cause instanceof Error ? cause.message : String(cause);
  return { code: "unexpected_error", line: message };
};

/**
 * Runs `work`; what it throws has its cure in the message. @throws SettlementError, and what is no SettlementError
 * unchanged.
 */
export const inOneLine = async <A>(work: () => Promise<A>): Promise<A> => {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof SettlementError)) throw cause;
    const { code, cure, problem, status } = cause;
    const more = {
      cause,
      ...(problem === null ? {} : { problem }),
      ...(status === null ? {} : { status }),
    };
    throw new SettlementError(code, lineOf(cause).line, cure, more);
  }
};
