/** A text with its first letter in upper case, as a sentence begins. */
export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What a problem code means: its status, and what its page under `/problems/` says. */
export type ProblemKind = {
  readonly status: number;
  /** RFC 9457 `title`: the same for every occurrence. */
  readonly title: string;
  readonly explanation: string;
  readonly cure: string;
};

/** The meaning of a code. */
export const kind = (
  status: number,
  title: string,
  explanation: string,
  cure: string,
): ProblemKind => ({
  status,
  title,
  explanation,
  cure,
});
