import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeDurably } from "../../adapters/bun/durable-file.ts";
import type { CommandIo } from "../../client/command-line/command-io.ts";
import {
  readSigners,
  SIGNER_OPTIONS,
  type SignerValues,
} from "../../client/command-line/signer-options.ts";
import { SettlementError } from "../../client/settlement-error.ts";
import packageJson from "../../package.json" with { type: "json" };
import { hasCompiler } from "../../programs/compile.ts";
import { ROOT } from "../bundle/service-bundle.ts";
import {
  CommandEnded,
  endWith,
  EX_USAGE,
  parseCommandLine,
  runAsProcess,
} from "../command-line/command-line.ts";
import {
  checkSums,
  makeRelease,
  PROOF_FILE,
  RELEASE_FILE,
  type Revision,
  statedBy,
  SUMS_FILE,
} from "../release/make-release.ts";
import { checkLogged, logRelease, releasePolicy } from "../release/release-log.ts";
import { reproduce } from "../release/reproduce.ts";

const HELP = `Makes a release of the commit that is checked out: the client package, the service's bundle and its executable, the
programs and their IDLs, the verifier in one HTML file, a bill of materials, release.json and SHA256SUMS. The same commit
gives the same bytes on every machine of one platform. docs/releases.md says what each file is, and how to check one.

usage: bun run release [options]
       bun run release --verify [--against DIR]
       bun run release --log DIR --policy FILE --key FILE [options]
       bun run release --check [--policy FILE] [options]

  --out DIR      where the release is made, emptied first, or is   (release)
  --verify       clones the commit twice, into different folders, builds both and compares each byte
  --against DIR  compares with this release too, such as one that you were given
  --log DIR      appends the release to the log of releases in DIR, has its witnesses cosign it, and writes the proof,
                 ${PROOF_FILE}, into the release
  --check        checks a release's files by its SHA256SUMS and, with --policy, these by the proof; says which version and
                 commit they are. Offline.
  --policy FILE  the log of releases, its witnesses and their quorum (C2SP tlog-policy)
  --key FILE     the log's key; or --ssh-agent ADDRESS, or --signer-command CMD with --signer ADDRESS
  --help         this text

Ends with 0 when it is done, 1 when something differs, cannot be built or is not shown, 64 for a wrong command line.
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

const readPolicy = async (path: string | undefined) =>
  releasePolicy(
    await readFile(path ?? endWith(EX_USAGE, "--policy is missing; see --help"), "utf8"),
  );

const make = async (folder: string, io: CommandIo): Promise<void> => {
  if (!hasCompiler())
    io.stderr.write("clang-14 is not here, so the programs are taken as they are committed.\n");
  for (const { path, bytes, sha256 } of await makeRelease(folder, revisionHere()))
    io.stdout.write(`${sha256}  ${path} (${bytes} bytes)\n`);
};

const verify = async (against: string | undefined, io: CommandIo): Promise<void> => {
  const { commit } = revisionHere();
  const given = against === undefined ? null : resolve(against);
  const tell = (step: string): void => void io.stderr.write(`${step}\n`);
  const differing = await reproduce(commit, given, tell);
  if (differing.length > 0)
    endWith(1, differing.map(({ path, how }) => `${path} differs: ${how}`).join("\n"));
  io.stdout.write(`Both clones of ${commit} give the same ${SUMS_FILE}, byte for byte.\n`);
};

const log = async (
  folder: string,
  logFolder: string,
  values: SignerValues & { readonly policy?: string | undefined },
  io: CommandIo,
): Promise<void> => {
  const policy = await readPolicy(values.policy);
  const { signer } = await readSigners(values, io);
  await checkSums(folder);
  const entry = await readFile(join(folder, SUMS_FILE));
  const proof = await logRelease(logFolder, entry, policy, signer);
  await writeDurably(join(folder, PROOF_FILE), proof);
  io.stdout.write(`${join(folder, PROOF_FILE)} shows that the log holds this release.\n`);
};

const check = async (folder: string, policy: string | undefined, io: CommandIo): Promise<void> => {
  const { sound, absent } = await checkSums(folder);
  const missing = absent.length === 0 ? "" : `; not here: ${absent.join(", ")}`;
  io.stdout.write(`${sound.length} files are those of ${SUMS_FILE}${missing}.\n`);
  io.stdout.write(
    sound.includes(RELEASE_FILE)
      ? `They are the release ${await statedBy(folder)}.\n`
      : `Of which version and commit they are, ${RELEASE_FILE} says, which is not here.\n`,
  );
  if (policy === undefined) return;
  const [entry, proof] = await Promise.all([
    readFile(join(folder, SUMS_FILE)),
    readFile(join(folder, PROOF_FILE), "utf8"),
  ]);
  const { checkpoint, counted } = checkLogged(entry, proof, await readPolicy(policy));
  const witnesses = counted.map(
    ({ witness, time }) => `${witness.name} at ${new Date(Number(time) * 1000).toISOString()}`,
  );
  io.stdout.write(
    `${checkpoint.origin} holds them among its ${checkpoint.size}, cosigned by ${witnesses.join(", ") || "nobody, as the policy allows"}.\n`,
  );
};

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = parseCommandLine(args, HELP, {
    out: { type: "string", default: "release" },
    verify: { type: "boolean", default: false },
    against: { type: "string" },
    log: { type: "string" },
    check: { type: "boolean", default: false },
    policy: { type: "string" },
    ...SIGNER_OPTIONS,
  });
  const { bun } = packageJson.engines;
  if (Bun.version !== bun)
    endWith(1, `Only Bun ${bun} gives these bytes, and this is ${Bun.version}`);
  if (Number(values.verify) + Number(values.check) + Number(values.log !== undefined) > 1)
    endWith(EX_USAGE, "Give one of --verify, --log and --check; see --help");
  const folder = resolve(values.out);
  try {
    if (values.verify) await verify(values.against, io);
    else if (values.log !== undefined) await log(folder, resolve(values.log), values, io);
    else if (values.check) await check(folder, values.policy, io);
    else await make(folder, io);
    return 0;
  } catch (cause) {
    if (cause instanceof CommandEnded || !(cause instanceof Error)) throw cause;
    const cure = cause instanceof SettlementError ? ` ${cause.cure}` : "";
    return endWith(1, `${cause.message}${cure}`);
  }
};

if (import.meta.main) await runAsProcess(main);
