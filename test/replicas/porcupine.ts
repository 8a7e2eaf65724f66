import { join } from "node:path";
import { findGo } from "../log/go-oracle.ts";
import type { Operation } from "./history.ts";

/** What porcupine says of histories; null where Go is not installed, and nothing was checked. */
export const checkHistories = async (
  operations: ReadonlyArray<Operation>,
  folder: string,
): Promise<{ readonly isRight: boolean; readonly said: string } | null> => {
  const go = findGo();
  if (go === undefined) return null;
  const binary = join(folder, "histories");
  const build = Bun.spawn([go, "build", "-o", binary, "."], {
    cwd: join(import.meta.dir, "go"),
    stdout: "inherit",
    stderr: "inherit",
  });
  if ((await build.exited) !== 0) throw new Error("the checker in test/replicas/go was not built");
  const lines = operations.map((operation) => `${JSON.stringify(operation)}\n`).join("");
  const checker = Bun.spawn([binary], {
    stdin: new Blob([lines]),
    stdout: "pipe",
    stderr: "inherit",
  });
  const said = await new Response(checker.stdout).text();
  return { isRight: (await checker.exited) === 0, said };
};
