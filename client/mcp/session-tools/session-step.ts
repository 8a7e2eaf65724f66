import { SettlementError } from "../../settlement-error.ts";
import { type Unsigned, WalletMustSign } from "../../signing/absent-signer.ts";
import type { AgentSessions } from "../agent-sessions.ts";
import type { ToolContext } from "../tool.ts";

/** The sessions of this process. Their tools are listed only where it keeps some. */
export const sessionsOf = ({ sessions }: ToolContext): AgentSessions => {
  if (sessions === null) throw new Error("a tool of sessions where none are kept");
  return sessions;
};

/** Nothing to sign, as tools say it. */
export const NOTHING_TO_SIGN: {
  readonly transaction: null;
  readonly signers: ReadonlyArray<string>;
} = { transaction: null, signers: [] };

/** What a step gives, or the transaction that the wallet must sign first. @throws SettlementError */
export const unlessUnsigned = async <A>(
  step: () => Promise<A>,
): Promise<{ readonly done: A } | { readonly unsigned: Unsigned }> => {
  try {
    return { done: await step() };
  } catch (cause) {
    if (cause instanceof WalletMustSign) return { unsigned: cause.unsigned };
    throw cause;
  }
};

/** What is wrong with base units that a caller gave. */
export const wrongUnits = (name: string): SettlementError =>
  new SettlementError(
    "validation_failed",
    `${name} must be base units, 1 to 2^64-1.`,
    "Correct the call. Nothing was signed or sent.",
  );
