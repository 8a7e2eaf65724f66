import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { RECEIPT_HEADER } from "../../../core/protocol/calls/call-receipt.ts";
import { VOUCHER_HEADER } from "../../../core/protocol/calls/call-voucher.ts";
import { HEAD_HEADER } from "../../../core/protocol/calls/session-head.ts";
import { SESSION_SCHEME, X402_VERSION } from "../../../core/protocol/x402/payment-requirements.ts";
import type { Fetch } from "../../service/fetch-directly.ts";
import { headerJson, jsonHeader, membersOf } from "./session-wire.ts";

/** The headers of x402 version 2. */
const PAYMENT = "payment-signature";
const REQUIRED = "payment-required";
const SETTLED = "payment-response";

/** A seller's requirements for a call, of which nothing is judged here. */
type Offered = Readonly<Record<string, unknown>>;

/** Places whose offer is remembered: a closing voucher goes to one that was paid before. */
const MOST_PLACES = 1_000;

const offersIn = (answer: Response, network: string): ReadonlyArray<Offered> => {
  const { accepts } = membersOf(headerJson(answer.headers.get(REQUIRED)));
  return (Array.isArray(accepts) ? accepts : [])
    .map(membersOf)
    .filter((each) => each["scheme"] === SESSION_SCHEME && each["network"] === network);
};

/** What a request's own payment accepts, where that is a call of a session; null for any other request. */
export const acceptedIn = (headers: Headers): Offered | null => {
  const accepted = membersOf(membersOf(headerJson(headers.get(PAYMENT)))["accepted"]);
  return accepted["scheme"] === SESSION_SCHEME ? accepted : null;
};

/** A refusal as a seller of sessions writes it without x402; null for what has no form. */
const refusalAnswer = (refusal: unknown): Response | null => {
  const { status, code, detail, head } = membersOf(refusal);
  if (typeof status !== "number" || status < 400 || status > 599) return null;
  if (typeof code !== "string" || typeof detail !== "string") return null;
  const headers = new Headers({ "content-type": "application/problem+json" });
  if (typeof head === "string") headers.set(HEAD_HEADER, head);
  return new Response(JSON.stringify({ status, code, detail }), { status, headers });
};

const unwrapped = async (answer: Response, settled: string): Promise<Response | null> => {
  const { status, headers, body } = membersOf(await answer.json().catch(() => null));
  const bytes = typeof body === "string" ? decodeBase64(body) : undefined;
  if (typeof status !== "number" || !Array.isArray(headers) || bytes === undefined) return null;
  const given = new Headers(headers as Array<[string, string]>);
  given.set(SETTLED, settled);
  return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), {
    status,
    headers: given,
  });
};

/** An answer of x402's middleware as a seller of sessions gives it; what has no form is given as it is. */
const plainAnswer = async (answer: Response, network: string): Promise<Response> => {
  const settled = answer.headers.get(SETTLED);
  const { success, extra } = membersOf(headerJson(settled));
  const { refusal, receipt, status, isWrapped } = membersOf(extra);
  if (answer.status === 402) {
    const said = refusal ?? membersOf(offersIn(answer, network)[0]?.["extra"])["refusal"];
    return refusalAnswer(said) ?? answer;
  }
  if (success !== true || settled === null) return answer;
  if (isWrapped === true) return (await unwrapped(answer.clone(), settled)) ?? answer;
  if (typeof receipt !== "string") return answer;
  const headers = new Headers(answer.headers);
  headers.set(RECEIPT_HEADER, receipt);
  const attested = typeof status === "number" ? status : answer.status;
  return new Response(answer.body, { status: attested, headers });
};

/**
 * A `fetch` for an agent's sessions whose sellers stand behind x402's middleware on `network`. What the agent puts into
 * headers of its own travels in x402's payment, and what comes back is turned into what sellers answer without x402. A
 * request that has a payment without a voucher is not sent: it is answered with the offer that the payment accepts.
 */
export const sessionCarrier = (network: string, fetchWith: Fetch): Fetch => {
  const remembered = new Map<string, Offered>();
  return async (url, init) => {
    const headers = new Headers(init.headers);
    const accepted = acceptedIn(headers);
    const voucher = headers.get(VOUCHER_HEADER);
    if (voucher === null && accepted === null) return fetchWith(url, init);
    if (voucher === null) {
      const offer = jsonHeader({ x402Version: X402_VERSION, accepts: [accepted] });
      return new Response(null, { status: 402, headers: { [REQUIRED]: offer } });
    }
    const head = headers.get(HEAD_HEADER);
    for (const name of [VOUCHER_HEADER, HEAD_HEADER, PAYMENT]) headers.delete(name);
    const payload = { voucher, ...(head === null ? {} : { head }) };
    const send = (offer: Offered | undefined): Promise<Response> => {
      const sent = new Headers(headers);
      const payment = { x402Version: X402_VERSION, accepted: offer, payload };
      if (offer !== undefined) sent.set(PAYMENT, jsonHeader(payment));
      return fetchWith(url, { ...init, headers: Object.fromEntries(sent) });
    };
    const { origin, pathname } = new URL(url);
    const place = `${init.method ?? "GET"} ${origin}${pathname}`;
    let offer = accepted ?? remembered.get(place);
    let answer = await send(offer);
    const [newest] = offersIn(answer, network);
    const isStale = newest !== undefined && membersOf(newest["extra"])["refusal"] === undefined;
    // The offer has changed, or none was known: the call was not judged yet.
    if (answer.status === 402 && !answer.headers.has(SETTLED) && isStale) {
      await answer.body?.cancel();
      offer = newest;
      answer = await send(offer);
    }
    if (remembered.size >= MOST_PLACES) remembered.clear();
    if (offer !== undefined) remembered.set(place, offer);
    return plainAnswer(answer, network);
  };
};
