import { MEMO_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import type { WireMessage } from "../../../../core/protocol/transaction/wire-message.ts";

const MEMO_PROGRAMS: ReadonlySet<string> = new Set([
  MEMO_PROGRAM,
  "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo",
]);

/** A transaction's memos as signature lists show them: `[length] text; ...`. Null without any. */
export const memoOf = (message: WireMessage): string | null => {
  const memos = message.instructions
    .filter(({ program }) => MEMO_PROGRAMS.has(program))
    .map(({ data }) => `[${data.length}] ${new TextDecoder().decode(data)}`);
  return memos.length === 0 ? null : memos.join("; ");
};
