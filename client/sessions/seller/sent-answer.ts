import { RECEIPT_HEADER } from "../../../core/protocol/calls/call-receipt.ts";
import { HEAD_HEADER } from "../../../core/protocol/calls/session-head.ts";
import type { SentAnswer } from "../store/session-store.ts";
import { PRIVATE } from "./refusal.ts";
import type { StreamedAnswer } from "./seller-context.ts";

/** The statuses whose answers have no body (WHATWG Fetch, "null body status"). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Headers of one message or one connection (RFC 9110, sections 6.6.1, 7.6.1 and 8.6): they are not a delivery's. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const isEvents = (headers: Headers): boolean =>
  /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");

/** A handler's answer as it is sent and kept: read to its end, unless it is a stream of events. */
export const answerOf = async (response: Response): Promise<SentAnswer | StreamedAnswer> => {
  const { status, body } = response;
  const headers = [...response.headers].filter(([name]) => !OF_CONNECTION.has(name));
  return body !== null && status < 300 && isEvents(response.headers)
    ? { status, headers, stream: body }
    : { status, headers, body: new Uint8Array(await response.arrayBuffer()) };
};

/** The headers of an answer; with a receipt's value those of a paid one. @throws TypeError for what is no header */
const headersOf = ({ headers }: Pick<SentAnswer, "headers">, receipt: string | null): Headers => {
  const given = new Headers(headers.map(([name, value]): [string, string] => [name, value]));
  for (const name of [RECEIPT_HEADER, HEAD_HEADER]) given.delete(name);
  if (receipt !== null) {
    given.set("cache-control", PRIVATE);
    given.set(RECEIPT_HEADER, receipt);
  }
  return given;
};

/** An answer on its way; without a receipt it is not paid. @throws RangeError, TypeError when none can be made of it */
export const responseOf = (
  { status, body, ...answer }: Omit<SentAnswer, "body"> & { readonly body: BodyInit },
  receipt: string | null,
): Response => {
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new RangeError(`${status} is no status of an answer`);
  const content = WITHOUT_BODY.has(status) ? null : body;
  return new Response(content, { status, headers: headersOf(answer, receipt) });
};

/** @throws RangeError, TypeError for an answer that its agent could not take, so that nothing is charged for it */
export const requireSendable = (answer: SentAnswer | StreamedAnswer): void => {
  const { headers } = responseOf({ ...answer, body: "" }, "");
  const coding = headers.get("content-encoding") ?? "identity";
  if (coding.toLowerCase() !== "identity")
    throw new RangeError(`an answer in the content coding ${coding} is no call's`);
  const hasBody = "stream" in answer || answer.body.length > 0;
  if (WITHOUT_BODY.has(answer.status) && hasBody)
    throw new RangeError(`an answer of ${answer.status} has no body`);
};
