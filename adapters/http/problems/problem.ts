import type { RequestFault } from "./http-failures.ts";
import { PROBLEM_CATALOGUE, type ProblemCode } from "./problem-catalogue.ts";

/** One occurrence of a problem, before it is put into a document. */
export type Problem = {
  readonly code: ProblemCode;
  /** What happened this time, without values of the request. */
  readonly detail: string;
  readonly errors?: ReadonlyArray<RequestFault>;
  /** What to do this time; by default the catalogue's cure of the code. */
  readonly cure?: string;
  /** Further members that only this kind of problem has, such as the relay's `signature`. */
  readonly extensions?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The media type of RFC 9457. */
export const PROBLEM_MEDIA_TYPE = "application/problem+json";

/** The path of the page that explains a code: the problem's `type`. */
export const problemType = (code: ProblemCode): string => `/problems/${code}`;

/** The HTTP status of a problem. */
export const problemStatus = (problem: Problem): number => PROBLEM_CATALOGUE[problem.code].status;

/** A problem in one line, for people at a wallet: what is wrong, where, and what to do. They cannot change a link. */
const walletMessage = ({ code, detail, errors = [], cure }: Problem): string => {
  const places = errors.map((fault) => `${fault.pointer.slice(1)} ${fault.detail}.`);
  const usual =
    errors.length > 0
      ? "Ask for a corrected link, or use another wallet."
      : PROBLEM_CATALOGUE[code].cure;
  return [detail, ...places, cure ?? usual].join(" ");
};

/**
 * The RFC 9457 document of one occurrence, with a `message` where a wallet reads it (Solana Actions, "Action Errors").
 * `instance` is its type's page with the request id as fragment: it names the occurrence, leads to the explanation, and
 * repeats nothing of the request.
 */
export const problemDocument = (
  problem: Problem,
  requestId: string,
  forWallets = false,
): string => {
  const { code, detail, errors, extensions } = problem;
  const { title, status, cure } = PROBLEM_CATALOGUE[code];
  const type = problemType(code);
  return JSON.stringify({
    type,
    title,
    status,
    detail,
    instance: `${type}#${requestId}`,
    code,
    cure: problem.cure ?? cure,
    request_id: requestId,
    ...(forWallets ? { message: walletMessage(problem) } : {}),
    ...(errors === undefined ? {} : { errors }),
    ...extensions,
  });
};
