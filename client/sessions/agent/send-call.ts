import { foreignText } from "../../../core/domain/encoding/foreign-text.ts";
import { VOUCHER_HEADER } from "../../../core/protocol/calls/call-voucher.ts";
import { HEAD_HEADER, tallyOf } from "../../../core/protocol/calls/session-head.ts";
import { NO_CALLS, type SessionTally } from "../../../core/protocol/calls/session-tally.ts";
import type { SessionTerms } from "../../../core/protocol/calls/session-terms.ts";
import { boundedBytes, type Fetch, fetchDirectly } from "../../service/fetch-directly.ts";
import type { ClientClock } from "../../service/requests.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { MessageSigner } from "../../signing/sign-transaction.ts";
import type { AgentState, SessionJournal } from "./session-journal.ts";
import { isStreamed, streamedAnswer, type StreamSink } from "./take-stream.ts";

/** What an agent's calls need. */
export type AgentContext = {
  readonly session: SessionTerms;
  /** The genesis hash of the ledger, base58. */
  readonly network: string;
  /** The session key. */
  readonly signer: MessageSigner;
  readonly journal: SessionJournal;
  readonly fetch: Fetch;
  readonly clock: ClientClock;
};

/** A request to a seller. */
export type SessionRequest = {
  /** `GET` when left out. */
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** The most that it may cost, base units. */
  readonly limit: bigint;
  readonly signal?: AbortSignal;
  /** Takes a stream as it comes; without one its end is waited for. */
  readonly sink?: StreamSink;
};

/** How often a call is sent before its agent hears that there is no answer. */
export const MOST_SENDS = 6;
/** The pause before the second sending, milliseconds; it doubles. */
export const FIRST_PAUSE_MS = 200;
/** The longest answer, bytes. */
const MOST_BODY_BYTES = 67_108_864;

/** Where a session stands by its agent's newest record. */
export const tallyAt = ({ head }: AgentState): SessionTally =>
  head === null ? NO_CALLS : tallyOf(head);

/** A failure of a session's agent. */
export const failed = (
  code: string,
  detail: string,
  cure: string,
  cause?: unknown,
): SettlementError => new SettlementError(code, detail, cure, cause === undefined ? {} : { cause });

/** What a seller's refusal says. */
export type SellerProblem = { readonly code: string; readonly detail: string };

const problemIn = (headers: Headers, body: Uint8Array): SellerProblem | null => {
  if (!/^application\/problem\+json\b/i.test(headers.get("content-type") ?? "")) return null;
  try {
    const { code, detail } = JSON.parse(new TextDecoder().decode(body)) as Partial<SellerProblem>;
    return typeof code === "string" && typeof detail === "string"
      ? { code, detail: foreignText(detail) }
      : null;
  } catch {
    return null;
  }
};

/** An answer of a seller, of which nothing is judged. */
export type Sent = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly problem: SellerProblem | null;
};

/** Sends a request with a voucher, once. A redirect is refused: the voucher is for this seller. */
export const send = async (
  { fetch }: AgentContext,
  { method = "GET", url, headers = {}, body, signal, sink }: Omit<SessionRequest, "limit">,
  carried: Readonly<Record<string, string>>,
): Promise<Sent> => {
  const all = new Headers(headers);
  for (const name of [VOUCHER_HEADER, HEAD_HEADER]) all.delete(name);
  // What is attested is the body as it was sent, which a runtime hides once it undoes a coding.
  all.set("accept-encoding", "identity");
  for (const [name, value] of Object.entries(carried)) all.set(name, value);
  const response = await fetchDirectly(
    url,
    {
      method,
      headers: Object.fromEntries(all),
      ...(body === undefined ? {} : { body: new Uint8Array(body) }),
      ...(signal === undefined ? {} : { signal }),
    },
    fetch,
  );
  const { status, headers: given } = response;
  if (isStreamed(response))
    return { status, ...(await streamedAnswer(response, MOST_BODY_BYTES, sink)), problem: null };
  const bytes = await boundedBytes(response, MOST_BODY_BYTES);
  return { status, headers: given, body: bytes, problem: problemIn(given, bytes) };
};
