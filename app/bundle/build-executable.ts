import { createHash } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./service-bundle.ts";

/** What a service needs of the repository, beside the packages of package.json. */
export const SHIPPED: ReadonlyArray<string> =
  "LICENSE README.md CHANGELOG.md package.json bun.lock tsconfig.json tsconfig.client.json adapters app client core docs ports programs".split(
    " ",
  );

/** The executable could not be built: what the failing tool said. */
class ExecutableNotBuilt extends Error {
  override readonly name = "ExecutableNotBuilt";
}

const run = async (cwd: string, ...command: ReadonlyArray<string>): Promise<void> => {
  const child = Bun.spawn([...command], { cwd, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const [said, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  if (code !== 0) throw new ExecutableNotBuilt(`${command[0]}: ${said.trim()}`);
};

/** The same content gives the same bytes, whoever packs it, where, when and under which umask. */
const REPRODUCIBLE = [
  "--sort=name",
  "--mtime=@0",
  "--owner=0",
  "--group=0",
  "--numeric-owner",
  "--mode=u=rwX,go=rX",
  "--use-compress-program=gzip -n",
] as const;

/**
 * Builds one file with Bun, the service and its packages for this machine's kind, at an absolute path, whose last
 * name is in it. It needs GNU tar.
 * Returns the file's SHA-256 and its size. @throws ExecutableNotBuilt with what the failing tool said.
 */
export const buildExecutable = async (
  file: string,
): Promise<{ readonly sha256: string; readonly bytes: number }> => {
  const draft = await mkdtemp(join(tmpdir(), "settlement-evidence-"));
  try {
    for (const name of ["package.json", "bun.lock"]) await cp(join(ROOT, name), join(draft, name));
    const install = ["install", "--frozen-lockfile", "--production", "--ignore-scripts"];
    await run(draft, process.execPath, ...install, "--backend=copyfile");
    const tree = join(draft, "tree.tar.gz");
    const packed = [...SHIPPED, "-C", draft, "node_modules"];
    await run(ROOT, "tar", ...REPRODUCIBLE, "-cf", tree, "-C", ROOT, ...packed);
    const key = createHash("sha256")
      .update(await readFile(tree))
      .digest("hex")
      .slice(0, 16);
    const runs = JSON.stringify(join(import.meta.dir, "executable.ts"));
    const entry = join(draft, "settlement-evidence.ts");
    await writeFile(
      entry,
      `import tree from "./tree.tar.gz" with { type: "file" };
import { runUnpacked } from ${runs};
await runUnpacked(tree, ${JSON.stringify(key)});
`,
    );
    // Minified, it has no comments, in which Bun names the sources' folder.
    await run(draft, process.execPath, "build", "--compile", "--minify", entry, "--outfile", file);
    const bytes = await readFile(file);
    return { sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};
