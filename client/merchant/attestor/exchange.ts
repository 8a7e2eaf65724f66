import { Ajv2020 } from "ajv/dist/2020.js";
import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { parseUnambiguousJson } from "../../../core/domain/encoding/strict-json.ts";
import { faultIn } from "./rules.ts";
import schema from "./exchange.schema.json" with { type: "json" };

/** One HTTP exchange, as whoever watched it recorded it. */
export type Exchange = {
  readonly escrow: string;
  /** The nonce of the escrow's task. */
  readonly nonce: string;
  readonly request: { readonly method: string; readonly url: string };
  readonly response: { readonly status: number; readonly body: Uint8Array };
  /** From the request to the end of the answer. */
  readonly latency_ms: number;
  /** RFC 3339 UTC, whole seconds. */
  readonly delivered_at: string;
};

type Recorded = Omit<Exchange, "response"> & {
  readonly response: { readonly status: number; readonly body_base64: string };
};

const fits = new Ajv2020({ strict: true }).compile<Recorded>(schema);

/** The exchange in a line of JSON, or what is wrong with it. `exchange.schema.json` describes it. */
export const parseExchange = (
  line: string,
): { readonly value: Exchange } | { readonly fault: string } => {
  const read = parseUnambiguousJson(line);
  if ("fault" in read) return { fault: `it is no JSON: it ${read.fault}` };
  const recorded: unknown = read.value;
  if (!fits(recorded)) return { fault: faultIn(fits.errors) };
  const body = decodeBase64(recorded.response.body_base64);
  if (body === undefined) return { fault: "/response/body_base64 is no base64" };
  return { value: { ...recorded, response: { status: recorded.response.status, body } } };
};

/**
 * The lines of UTF-8 bytes, without their ends: `\n`, or `\r\n`. Nothing else ends a line. JSON's texts hold U+2028 and U+2029 as they are (RFC 8259, section 7), and a buyer's nonce may
 * have one, which must not divide the record that names it.
 */
export async function* linesIn(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of input) {
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield line.replace(/\r$/, "");
  }
  const last = rest + decoder.decode();
  if (last !== "") yield last.replace(/\r$/, "");
}
