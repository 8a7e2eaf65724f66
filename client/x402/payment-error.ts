import type { PaymentFault, Read } from "../../core/protocol/x402/payment-requirements.ts";
import { SettlementError } from "../settlement-error.ts";

/** Unwraps a `Read`. @throws SettlementError with the code of its fault */
export const valueOf = <A>(read: Read<A>): A => {
  if ("value" in read) return read.value;
  throw faultError(read.fault);
};

/** A fault as the client's error. */
export const faultError = ({ code, detail, cure }: PaymentFault): SettlementError =>
  new SettlementError(code, detail, cure);

/** An error as its code and one line with mistake and cure. x402 shows only an error's message. */
export const lineOf = (cause: unknown): { readonly code: string; readonly line: string } => {
  if (cause instanceof SettlementError)
    return { code: cause.code, line: `${cause.message} ${cause.cure}` };
  const message = cause instanceof Error ? cause.message : String(cause);
  return { code: "unexpected_error", line: message };
};

/**
 * Runs `work`. @throws SettlementError whose message also holds the cure. Other errors pass unchanged
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
