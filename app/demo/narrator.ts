/** Prints the demo's story for a person. */
export type Narrator = {
  /** A new step and its reason. */
  readonly step: (title: string, why: string) => void;
  /** Who signs what. The key stays in this process. */
  readonly signs: (who: string, what: string) => void;
  /** The next request as a shell command. */
  readonly request: (method: string, url: string, body: unknown) => void;
  /** The result of a step. */
  readonly result: (text: string) => void;
};

const LONGEST_SHOWN = 100;

const curl = (method: string, url: string, body: unknown, full: boolean): string => {
  if (body === undefined) return `curl -s ${method === "GET" ? "" : `-X ${method} `}'${url}'`;
  const shown = (_key: string, value: unknown): unknown =>
    !full && typeof value === "string" && value.length > LONGEST_SHOWN
      ? `${value.slice(0, 24)}…${value.length - 24} more characters`
      : value;
  const json = JSON.stringify(body, shown).replaceAll("'", `'\\''`);
  return `curl -s '${url}' -H 'content-type: application/json' -d '${json}'`;
};

const indent = (text: string, first: string): string =>
  `${first}${text.replaceAll("\n", `\n${" ".repeat(first.length)}`)}`;

/** Writes the story as text. `full` also writes long values, so that every request can be repeated. */
export const textNarrator = (
  write: (line: string) => void,
  options: { readonly full: boolean },
): Narrator => {
  let steps = 0;
  return {
    step: (title, why) => {
      steps += 1;
      write(`\n${steps}. ${title}`);
      write(indent(why, "   "));
    },
    signs: (who, what) => write(indent(`${who} signs: ${what}`, "   ✎ ")),
    request: (method, url, body) => write(indent(curl(method, url, body, options.full), "   $ ")),
    result: (text) => write(indent(text, "   → ")),
  };
};
