import { Ajv2020 } from "ajv/dist/2020.js";
import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import { parseUnambiguousJson } from "../../../core/domain/encoding/strict-json.ts";
import {
  MAX_NONCE_BYTES,
  MAX_TASK_INTENT_BYTES,
  taskHash,
  taskTextFault,
} from "../../../core/domain/escrow/task-hash.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { sha256 } from "../../../core/domain/sha256.ts";
import type { DeliveryPayload } from "../../pay/delivery.ts";
import schema from "./exchange.schema.json";
import { faultIn, type Rules } from "./rules.ts";

/** One HTTP exchange, as whoever watched it recorded it. */
type Exchange = {
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
 * The lines of UTF-8 bytes, without their ends: `\n`, or `\r\n`. Nothing else ends a line. JSON's texts hold U+2028 and
 * U+2029 as they are (RFC 8259, section 7), and a buyer's nonce may have one, which must not divide the record that
 * names it.
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

/** What an exchange is judged against beside the rules. */
type Judged = {
  /** The escrow's task hash, which its address proves. */
  readonly taskHash: string;
  /** The escrow's merchant. */
  readonly merchant: string;
  /** The genesis hash of the ledger. */
  readonly network: string;
};

/** What a judgement comes to: a payload to attest, or every reason against it. */
type Judgement =
  | {
      readonly rule: string;
      readonly template: string;
      readonly payload: DeliveryPayload;
    }
  | { readonly reasons: ReadonlyArray<string> };

type JudgedRule = Rules["rules"][number];

const withoutQuery = (url: string): string => url.split(/[?#]/)[0] ?? "";

/** What is wrong with the body under a rule's JSON Schema; null for nothing. */
const schemaFault = ({ bodyFault }: JudgedRule, body: Uint8Array): string | null => {
  if (bodyFault === null) return null;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return "the body is no UTF-8";
  }
  const parsed = parseUnambiguousJson(text);
  if ("fault" in parsed) return `the body is no JSON: ${parsed.fault}`;
  const fault = bodyFault(parsed.value);
  return fault === null ? null : `the body does not fit the schema: ${fault}`;
};

/** Why the escrow was not made for this request; null when it was: its task is the method, a space and the URL. */
const taskFault = ({ request, nonce }: Exchange, wanted: string): string | null => {
  const task = `${request.method} ${request.url}`;
  const fault = taskTextFault(task, MAX_TASK_INTENT_BYTES) ?? taskTextFault(nonce, MAX_NONCE_BYTES);
  if (fault !== undefined) return `request and nonce ${fault}`;
  return taskHash(task, nonce) === wanted ? null : "the escrow pays for another request";
};

const payloadOf = (
  rule: JudgedRule,
  exchange: Exchange,
  judged: Judged,
  digest: string,
): DeliveryPayload => {
  const parts = {
    url: exchange.request.url,
    status: exchange.response.status,
    content_sha256: digest,
    content_bytes: exchange.response.body.length,
    delivered_at: exchange.delivered_at,
    network: judged.network,
  };
  const fields = Object.entries(rule.fields).map(([name, source]): [string, Json] => [
    name,
    "from" in source ? parts[source.from] : source.value,
  ]);
  return {
    ...Object.fromEntries(fields),
    proof_template_id: rule.template,
    task_hash: judged.taskHash,
  };
};

/**
 * Judges an exchange under the first rule for its merchant, method and URL. The payload holds what the rule names, the
 * template's id and the task hash; whether it fits the template is not judged here.
 */
export const judgeExchange = (rules: Rules, exchange: Exchange, judged: Judged): Judgement => {
  const { request, response, latency_ms: latency } = exchange;
  const rule = rules.rules.find(
    ({ merchant, method, url }) =>
      merchant === judged.merchant &&
      method === request.method &&
      url === withoutQuery(request.url),
  );
  if (rule === undefined)
    return { reasons: [`no rule is for ${request.method} ${withoutQuery(request.url)}`] };
  const digest: string = hash32FromBytes(sha256(response.body));
  const { latency_ms: most, content_sha256: content } = rule;
  const reasons = [
    taskFault(exchange, judged.taskHash),
    rule.status.includes(response.status)
      ? null
      : `the status is ${response.status}, not ${rule.status.join(" or ")}`,
    most !== undefined && latency > most
      ? `the answer took ${latency} ms, more than ${most} ms`
      : null,
    content !== undefined && content !== digest
      ? `the body's SHA-256 is ${digest}, not ${content}`
      : null,
    schemaFault(rule, response.body),
  ].filter((reason) => reason !== null);
  if (reasons.length > 0) return { reasons };
  return {
    rule: rule.name,
    template: rule.template,
    payload: payloadOf(rule, exchange, judged, digest),
  };
};
