import { boundedText, problemOf } from "../../client/service/requests.ts";
import { type Fetch, fetchDirectly } from "../../client/service/fetch-directly.ts";
import type { MessageSigner } from "../../client/signing/sign-transaction.ts";
import type { DeployKey } from "../deploy/inputs/deploy-key.ts";

/** What was asked over HTTP, and what came back. */
export type Exchange = {
  readonly method: string;
  readonly url: string;
  /** JSON, null without a body. */
  readonly body: string | null;
  readonly status: number;
  /** The answer's text, null for a stream, which has no end. */
  readonly text: string | null;
};

/** Prints the demo's story for a person. */
export type Narrator = {
  /** A new step and its reason. */
  readonly step: (title: string, why: string) => void;
  /** Who signs what. The key stays in this process. */
  readonly signs: (who: string, what: string) => void;
  /** A request as a shell command, and its answer. */
  readonly exchange: (exchange: Exchange) => void;
  /** The result of a step. */
  readonly result: (text: string) => void;
};

const LONGEST_VALUE = 100;
const SHOWN_OF_VALUE = 24;
const SHOWN_OF_ANSWER = 160;

const curl = ({ method, url, body, text }: Exchange, full: boolean): string => {
  if (body === null)
    return `curl -s${text === null ? "N" : ""} ${method === "GET" ? "" : `-X ${method} `}'${url}'`;
  const shown = (_key: string, value: unknown): unknown =>
    !full && typeof value === "string" && value.length > LONGEST_VALUE
      ? `${value.slice(0, SHOWN_OF_VALUE)}…${value.length - SHOWN_OF_VALUE} more characters`
      : value;
  const json = JSON.stringify(JSON.parse(body), shown).replaceAll("'", `'\\''`);
  return `curl -s '${url}' -H 'content-type: application/json' -d '${json}'`;
};

/** The code and detail of a problem; of any other answer its beginning, or all of it. */
const answerText = ({ status, text }: Exchange, full: boolean): string => {
  if (text === null) return `${status}, a stream of events`;
  if (full) return `${status} ${text}`;
  if (status >= 400) {
    const { code, message } = problemOf({ status, text, headers: new Headers() });
    return `${status} ${code}: ${message}`;
  }
  return `${status} ${text.slice(0, SHOWN_OF_ANSWER)}${text.length > SHOWN_OF_ANSWER ? "…" : ""}`;
};

const indent = (text: string, first: string): string =>
  `${first}${text.replaceAll("\n", `\n${" ".repeat(first.length)}`)}`;

/**
 * Writes the story as text. `full` also writes long values, so that every request can be repeated. What is asked again
 * in the same words and answered with the same status is told once.
 */
export const textNarrator = (
  write: (line: string) => void,
  options: { readonly full: boolean },
): Narrator => {
  let steps = 0;
  let last = "";
  return {
    step: (title, why) => {
      steps += 1;
      last = "";
      write(`\n${steps}. ${title}`);
      write(indent(why, "   "));
    },
    signs: (who, what) => write(indent(`${who} signs: ${what}`, "   ✎ ")),
    exchange: (exchange) => {
      const { method, url, body, status } = exchange;
      const said = JSON.stringify([method, url, body, status]);
      if (said === last) return;
      last = said;
      write(indent(curl(exchange, options.full), "   $ "));
      write(indent(answerText(exchange, options.full), "   ← "));
    },
    result: (text) => write(indent(text, "   → ")),
  };
};

/** A `fetch` that tells each request together with its answer. What was aborted is not told. */
export const narratingFetch =
  (narrator: Narrator): Fetch =>
  async (url, init) => {
    const response = await fetchDirectly(url, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const text = isStream ? null : await boundedText(response.clone());
    const { method = "GET", body } = init;
    if (init.signal?.aborted !== true)
      narrator.exchange({
        method,
        url,
        body: typeof body === "string" ? body : null,
        status: response.status,
        text,
      });
    return response;
  };

/** A key that says who signs what before it does. */
export const narratingSigner = (
  narrator: Narrator,
  who: string,
  what: string,
  { address, sign }: DeployKey,
): MessageSigner => ({
  publicKey: address,
  sign: (message) => {
    narrator.signs(who, `${what}, ${message.length} bytes`);
    return Promise.resolve(sign(message));
  },
});
