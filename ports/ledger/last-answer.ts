import { Context } from "effect";

/** Which node gave an answer, and to which method. */
export type AnswerSource = {
  /** The node's scheme and host, with the port if there is one. */
  readonly node: string;
  /** The JSON-RPC method. */
  readonly method: string;
};

/** Where an adapter notes whose answer the running fiber got last; null where nobody asks. */
export const LastAnswer = Context.Reference<{ source: AnswerSource | null } | null>(
  "settlement-evidence/ports/LastAnswer",
  { defaultValue: () => null },
);
