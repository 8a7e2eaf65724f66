import { resolve } from "node:path";
import type { CommandIo } from "../../client/command-line/command-io.ts";
import packageJson from "../../package.json" with { type: "json" };
import { hasCompiler } from "../../programs/compile.ts";
import { ROOT } from "../bundle/service-bundle.ts";
import { endWith, parseCommandLine, runAsProcess } from "../command-line/command-line.ts";
import { makeRelease, type Revision, SUMS_FILE } from "../release/make-release.ts";
import { reproduce } from "../release/reproduce.ts";

const HELP = `Makes a release of the commit that is checked out: the client package, the service's bundle, the programs
and their IDLs, the verifier in one HTML file, a bill of materials, release.json and SHA256SUMS. The same commit gives
the same bytes on every machine of one platform. docs/releases.md says what each file is, and how to check one.

usage: bun run release [options]

  --out DIR      where to, emptied first   (release)
  --verify       makes nothing: clones the commit twice, into different folders, builds both and compares each byte
  --against DIR  with --verify: compares with this release too, such as one that you were given
  --help         this text

Ends with 0 when it is done, 1 when something differs or cannot be built, 64 for a wrong command line.
`;

/** What git says, without the last line break. Ends the command where it fails. */
const git = (...args: ReadonlyArray<string>): string => {
  const { stdout, stderr, exitCode } = Bun.spawnSync(["git", ...args], { cwd: ROOT });
  return exitCode === 0
    ? stdout.toString().trimEnd()
    : endWith(1, `git ${args.join(" ")} failed: ${stderr.toString().trim()}`);
};

const revisionHere = (): Revision => {
  const changed = git("status", "--porcelain");
  if (changed !== "")
    endWith(1, `A release names its commit, and these files differ from it:\n${changed}`);
  const committedAt = Number(git("show", "--no-patch", "--format=%ct", "HEAD"));
  return { commit: git("rev-parse", "HEAD"), committedAt };
};

const failed = (cause: unknown): never =>
  endWith(1, cause instanceof Error ? cause.message : String(cause));

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = parseCommandLine(args, HELP, {
    out: { type: "string", default: "release" },
    verify: { type: "boolean", default: false },
    against: { type: "string" },
  });
  if (Bun.version !== packageJson.engines.bun)
    endWith(1, `Only Bun ${packageJson.engines.bun} gives these bytes, and this is ${Bun.version}`);
  if (!hasCompiler())
    io.stderr.write("clang-14 is not here, so the programs are taken as they are committed.\n");
  if (!values.verify) {
    if (values.against !== undefined) endWith(64, "--against goes with --verify; see --help");
    const folder = resolve(values.out);
    for (const { path, bytes, sha256 } of await makeRelease(folder, revisionHere()).catch(failed))
      io.stdout.write(`${sha256}  ${path} (${bytes} bytes)\n`);
    return 0;
  }
  const { commit } = revisionHere();
  const against = values.against === undefined ? null : resolve(values.against);
  const tell = (step: string): void => void io.stderr.write(`${step}\n`);
  const differing = await reproduce(commit, against, tell).catch(failed);
  for (const { path, how } of differing) io.stdout.write(`${path} differs ${how}\n`);
  if (differing.length > 0) return 1;
  io.stdout.write(`Both clones of ${commit} give the same ${SUMS_FILE}, byte for byte.\n`);
  return 0;
};

if (import.meta.main) await runAsProcess(main);
