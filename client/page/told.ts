import { SettlementError } from "../settlement-error.ts";

/** A step as a person reads it, with links to pages of this service. */
export type Told = (
  text: string,
  links?: ReadonlyArray<readonly [name: string, path: string]>,
) => void;

/** Writes steps into a list of the page, each as text: names of wallets and answers of services may hold anything. */
export const tellIn =
  (list: Element): Told =>
  (text, links = []) => {
    const line = document.createElement("li");
    line.append(text);
    for (const [at, [name, path]] of links.entries()) {
      const link = document.createElement("a");
      link.href = path;
      link.append(name);
      line.append(at === 0 ? " " : ", ", link);
    }
    list.append(line);
  };

/** What went wrong, with its cure where the client knows one. */
export const failureText = (cause: unknown): string => {
  if (cause instanceof SettlementError) return `${cause.message} ${cause.cure}`;
  return cause instanceof Error ? cause.message : String(cause);
};
