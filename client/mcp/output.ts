import type { JsonSchema } from "./parameter.ts";

const about = (description: string | undefined): JsonSchema =>
  description === undefined ? {} : { description };

/** The schema of a text in a result. */
export const aText = (description?: string): JsonSchema => ({
  type: "string",
  ...about(description),
});

/** The schema of a text or null. */
export const maybeText = (description?: string): JsonSchema => ({
  type: ["string", "null"],
  ...about(description),
});

/** The schema of a whole number. */
export const aNumber = (description?: string): JsonSchema => ({
  type: "integer",
  ...about(description),
});

/** The schema of true or false. */
export const aFlag = (description?: string): JsonSchema => ({
  type: "boolean",
  ...about(description),
});

/** The schema of a list. Its items are described by `of`. */
export const aList = (of: JsonSchema, description?: string): JsonSchema => ({
  type: "array",
  items: of,
  ...about(description),
});

/** The schema of an object with these members; clients read those that they need. */
export const anObject = (members: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: "object",
  properties: members,
});

/** What every prepared transaction has. */
export const PREPARED: Readonly<Record<string, JsonSchema>> = {
  escrow: aText(),
  transaction: aText("Unsigned, base64"),
  signers: aList({ type: "string" }, "Who must sign, in order"),
  last_valid_block_height: aNumber(),
};
