const rawJson = (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON;

type NumberSource = { readonly source?: string };

/** JSON text in which a bigint is a plain number of any size, like Solana's u64 fields. */
export const encodeJson = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    typeof member === "bigint" ? rawJson(member.toString()) : member,
  );

/**
 * The value of a JSON text. An integer that a double cannot hold exactly becomes a bigint. @throws SyntaxError for a
 * text that is not JSON.
 */
export const decodeJson = (text: string): unknown =>
  JSON.parse(text, (_key: string, member: unknown, context?: NumberSource) =>
    typeof member === "number" &&
    !Number.isSafeInteger(member) &&
    context?.source !== undefined &&
    /^-?[0-9]+$/.test(context.source)
      ? BigInt(context.source)
      : member,
  );
