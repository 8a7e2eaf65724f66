import { foreignText } from "../../core/domain/encoding/foreign-text.ts";
import { SettlementError } from "../settlement-error.ts";
import { boundedBytes, type Fetch, fetchDirectly } from "./fetch-directly.ts";
import { requireForms } from "./forms.ts";

/** Waits `ms` milliseconds. Rejects with the signal's reason as soon as it is aborted. */
const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason as Error);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });

/** Time as the client sees it. Tests give another, so that nothing waits. */
export type ClientClock = {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as it is aborted. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** The machine's clock. */
export const systemClock: ClientClock = { nowMs: () => Date.now(), pause };

/** More than any answer of a service, in bytes. */
export const MOST_ANSWER_BYTES = 16_777_216;

/**
 * The text of an answer's body. @throws Error as soon as it is longer than `mostBytes`. Bytes are counted after
 * decompression, because a compressed megabyte can hold a gigabyte of text.
 */
export const boundedText = async (
  response: Response,
  mostBytes: number = MOST_ANSWER_BYTES,
): Promise<string> => new TextDecoder().decode(await boundedBytes(response, mostBytes));

/** An answer that the service gave: its status, headers and text. */
export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

/** Calls of one service. They are repeated after temporary failures, so each must be safe to repeat. */
export type Requests = {
  /** The answer as it is, problems too. @throws SettlementError when no answer comes. */
  readonly answer: (path: string, options?: RequestOptions) => Promise<Answer>;
  /** A stream's response, tried once. @throws what `fetch` throws. */
  readonly stream: (path: string, options?: RequestOptions) => Promise<Response>;
  /** The clock that its retries and deadlines follow. */
  readonly clock: ClientClock;
};

/** What a request carries. A body makes it a POST. */
export type RequestOptions = {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};

/** Attempts at one request, and the time limit of each. */
const TRIES = 6;
const TRY_MS = 45_000;
/** The shortest and longest pause. Half of a pause is random, so that clients do not retry together. */
const FIRST_PAUSE_MS = 200;
const LAST_PAUSE_MS = 5_000;
/** Statuses of temporary failures: too early, too many requests, or no service behind a proxy. */
const PASSING = new Set([408, 425, 429, 502, 503, 504]);
/** More than any text of a service's problem, in characters. */
const MOST_PROBLEM_TEXT = 4_096;
/** The form of a service's problem codes. */
const CODE = /^[a-z0-9_]{1,64}$/;
/** The longest Retry-After that is followed. */
const MOST_RETRY_AFTER_MS = 60_000;

/**
 * Whether an answer with a success status holds JSON. One that was cut short, or that a proxy made, does not.
 */
const isWhole = ({ status, text }: Answer): boolean => {
  if (status < 200 || status > 299) return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const pauseMs = (tried: number, random: () => number): number =>
  Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tried) * (0.5 + random() / 2);

/**
 * What an answer asks to wait, 0 to 60,000 milliseconds, undefined when it does not say: seconds or a date (RFC 9110,
 * section 10.2.3).
 */
export const retryAfterMs = (headers: Headers, nowMs: number): number | undefined => {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const ms = /^[0-9]+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.max(0, Math.min(ms, MOST_RETRY_AFTER_MS));
};

/**
 * The JSON of an answer. @throws SettlementError when it holds none: something between here and the service answered.
 */
export const jsonOf = (answer: Answer): unknown => {
  try {
    return JSON.parse(answer.text) as unknown;
  } catch {
    throw problemOf(answer);
  }
};

/**
 * The `data` of an answer, in which each member that the client reads has its form. @throws SettlementError for any
 * other answer: something between here and the service answered, or the service lies.
 */
export const dataOf = (answer: Answer): object => {
  const whole = jsonOf(answer);
  const data: unknown =
    typeof whole === "object" && whole !== null && "data" in whole && whole.data;
  if (typeof data !== "object" || data === null) throw problemOf(answer);
  requireForms(whole);
  return data;
};

/** The failure that a problem answer describes. Any other answer that is no success is described by its status. */
export const problemOf = ({ status, text }: Answer): SettlementError => {
  let problem: Readonly<Record<string, unknown>> = {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null) problem = parsed as typeof problem;
  } catch {
    // Something between here and the service answered.
  }
  const { code, detail, cure } = problem;
  return new SettlementError(
    typeof code === "string" && CODE.test(code) ? code : "unexpected_answer",
    typeof detail === "string"
      ? foreignText(detail, MOST_PROBLEM_TEXT)
      : `The service answered ${status} without saying why.`,
    typeof cure === "string"
      ? foreignText(cure, MOST_PROBLEM_TEXT)
      : "Check the service's address, and what lies before it.",
    { status, problem },
  );
};

/** Node 20 has no `URL.parse`. */
const urlIn = (text: string): URL | null => {
  try {
    return new URL(text);
  } catch {
    return null;
  }
};

/**
 * Calls of the service at `url`, by `fetch` unless another function is given. `random` gives numbers in [0, 1), a share
 * of each pause. @throws SettlementError for no address.
 */
export const requestsTo = (
  url: string,
  fetchWith?: Fetch,
  clock: ClientClock = systemClock,
  random: () => number = Math.random,
): Requests => {
  const base = urlIn(url);
  if (base === null || !["http:", "https:"].includes(base.protocol))
    throw new SettlementError(
      "invalid_url",
      `${url} is no http or https address.`,
      "Give the address of the service, such as http://127.0.0.1:3000.",
    );
  const root = base.href.replace(/\/+$/, "");

  const send = (path: string, { body, headers, signal }: RequestOptions): Promise<Response> =>
    fetchDirectly(
      root + path,
      {
        method: body === undefined ? "GET" : "POST",
        headers: {
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      },
      fetchWith,
    );

  /** One try with its deadline. The deadline's timer ends with the try, so that it keeps no process alive. */
  const attempt = async (path: string, options: RequestOptions): Promise<Answer> => {
    const late = new AbortController();
    const over = new AbortController();
    clock.pause(TRY_MS, over.signal).then(
      () => late.abort(new Error(`no answer within ${TRY_MS} ms`)),
      () => undefined,
    );
    try {
      const both = options.signal ? AbortSignal.any([options.signal, late.signal]) : late.signal;
      const response = await send(path, { ...options, signal: both });
      return {
        status: response.status,
        headers: response.headers,
        text: await boundedText(response),
      };
    } finally {
      over.abort();
    }
  };

  const answer = async (path: string, options: RequestOptions = {}): Promise<Answer> => {
    let failure: unknown;
    for (let tried = 0; tried < TRIES; tried++) {
      options.signal?.throwIfAborted();
      let wait = pauseMs(tried, random);
      try {
        const answer = await attempt(path, options);
        if ((!PASSING.has(answer.status) && isWhole(answer)) || tried === TRIES - 1) return answer;
        failure = problemOf(answer);
        wait = retryAfterMs(answer.headers, clock.nowMs()) ?? wait;
      } catch (cause) {
        options.signal?.throwIfAborted();
        if (cause instanceof SettlementError) throw cause;
        failure = cause;
      }
      if (tried < TRIES - 1) await clock.pause(wait, options.signal);
    }
    throw new SettlementError(
      "service_unreachable",
      `The service did not answer ${path} in ${TRIES} tries.`,
      "Check the address and the network, then run the same again: nothing is paid twice.",
      { cause: failure },
    );
  };

  return {
    answer,
    stream: (path, options = {}) => send(path, options),
    clock,
  };
};
