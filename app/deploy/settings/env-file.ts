import { readIfThere, writeDurably } from "../../../adapters/bun/durable-file.ts";

/** A setting that the file must have: it stays as it is where `isMet` says that its value serves, or is replaced. */
export type EnvSetting = {
  readonly name: string;
  readonly value: string;
  /** Whether another value serves as well; without it only the same value does. */
  readonly isMet?: (present: string) => boolean;
};

/** A change of an environment file. */
export type EnvChange = { readonly name: string; readonly change: "added" | "replaced" };

/** Only its owner may read the file: a node's address can hold a key. */
const MODE = 0o600;

const LINE = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/;

const unquoted = (text: string): string =>
  /^"[^"]*"$|^'[^']*'$/.test(text) ? text.slice(1, -1) : text;

/** The lines with the settings, and what changed. All other lines stay as they are; of a name twice, the last line counts. */
export const withSettings = (
  text: string,
  settings: ReadonlyArray<EnvSetting>,
): { readonly text: string; readonly changes: ReadonlyArray<EnvChange> } => {
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const changes: Array<EnvChange> = [];
  for (const { name, value, isMet } of settings) {
    const at = lines.findLastIndex((line) => LINE.exec(line)?.[1] === name);
    if (at === -1) {
      lines.push(`${name}=${value}`);
      changes.push({ name, change: "added" });
      continue;
    }
    const present = unquoted(LINE.exec(lines[at] ?? "")?.[2] ?? "");
    if (present === value || isMet?.(present) === true) continue;
    lines[at] = `${name}=${value}`;
    changes.push({ name, change: "replaced" });
  }
  return { text: `${lines.join("\n")}\n`, changes };
};

/** Puts settings into an environment file, which it makes if need be, and returns what changed. */
export const writeEnvFile = async (
  path: string,
  settings: ReadonlyArray<EnvSetting>,
): Promise<ReadonlyArray<EnvChange>> => {
  const { text, changes } = withSettings((await readIfThere(path)) ?? "", settings);
  if (changes.length > 0) await writeDurably(path, text, MODE);
  return changes;
};
