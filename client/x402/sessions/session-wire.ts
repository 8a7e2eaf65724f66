import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";

/** Why a seller takes no call, in `extra.refusal` of its offer or of its settlement. */
export type CallRefusal = {
  /** The HTTP status that it has without x402. */
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** The seller's newest record, base64, where the agent can go on by it. */
  readonly head?: string;
};

/** An answer that is given without the handler, in the body of another one: x402 writes JSON of status 200 alone. */
export type WrappedAnswer = {
  readonly status: number;
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  /** Base64. */
  readonly body: string;
};

/** The members of what a peer sent; none for anything but an object. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/** The JSON in a header of x402, of which nothing is judged; null for none. */
export const headerJson = (value: string | null): unknown => {
  try {
    return value === null
      ? null
      : (JSON.parse(new TextDecoder().decode(decodeBase64(value))) as unknown);
  } catch {
    return null;
  }
};

/** JSON as the value of such a header. */
export const jsonHeader = (value: unknown): string =>
  encodeBase64(new TextEncoder().encode(JSON.stringify(value)));
