import { readdir } from "node:fs/promises";

const examples = new URL("../../examples/", import.meta.url).pathname;
const MAX_LINES = 25;
const MAX_COLUMNS = 120;

/**
 * Checks that each role's file has at most 25 lines that are neither empty nor a comment, and none beyond 120 columns.
 * @throws Error that names the first file that has more.
 */
export const checkLines = async (): Promise<void> => {
  for (const name of await readdir(examples)) {
    if (!/^(agent|merchant|passer_by|transactions)\./.test(name)) continue;
    const lines = (await Bun.file(examples + name).text()).split("\n");
    const code = lines.filter((line) => !/^\s*((#|\/\/|\/\*).*)?$/.test(line)).length;
    if (code > MAX_LINES && !name.startsWith("transactions."))
      throw new Error(`${name} has ${code} lines of code`);
    if (lines.some((line) => line.length > MAX_COLUMNS))
      throw new Error(`${name} has a line of more than ${MAX_COLUMNS} columns`);
  }
};
