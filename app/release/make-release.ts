import { createHash } from "node:crypto";
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { CONTRACT_VERSION } from "../../adapters/http/openapi/openapi-document.ts";
import { receiptTemplate } from "../../adapters/http/pages/verify/receipt-template.ts";
import packageJson from "../../package.json" with { type: "json" };
import {
  binaryPath,
  compileProgram,
  hasCompiler,
  PROGRAM_NAMES,
  SBPF_VERSIONS,
} from "../../programs/compile.ts";
import { buildExecutable } from "../bundle/build-executable.ts";
import { bundledFiles } from "../bundle/bundle-scripts.ts";
import { ROOT, serviceBundle } from "../bundle/service-bundle.ts";
import { buildPackage } from "../client-package/build-package.ts";
import { billOfMaterials } from "./bill-of-materials.ts";

/** Which sources a release is made of. */
export type Revision = {
  /** 40 hex digits. */
  readonly commit: string;
  /** Whole seconds since 1970. */
  readonly committedAt: number;
};

/** A file of a release, by its path below the release's folder. */
export type ReleaseFile = {
  readonly path: string;
  readonly bytes: number;
  /** 64 hex digits. */
  readonly sha256: string;
};

/** Says what the release's files are, each with its SHA-256: all but these two. */
export const RELEASE_FILE = "release.json";
/** What `sha256sum --check` reads: all but itself and the proof that the log of releases holds it. */
export const SUMS_FILE = "SHA256SUMS";
export const PROOF_FILE = "release.tlog-proof";

/**
 * Where the released bundle of the service runs. A service that is started from this folder, at the release's commit,
 * runs these very bytes (app/bundle/service-bundle.ts).
 */
const SERVICE_PLACE = "/opt/settlement-evidence";

/** The service in one file, for machines like this one. */
const EXECUTABLE = "settlement-evidence";

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const isoOf = ({ committedAt }: Revision): string => new Date(committedAt * 1000).toISOString();

const packClient = async (folder: string): Promise<void> => {
  const draft = join(folder, "client-draft");
  await mkdir(draft, { recursive: true });
  const { path } = await buildPackage(draft);
  await cp(path, join(folder, "settlement-evidence.tgz"));
  await rm(draft, { recursive: true });
};

const bundleService = async (folder: string): Promise<void> => {
  // Bun writes the sources' paths into the bundle, as seen from the working directory.
  process.chdir(ROOT);
  const bundle = await serviceBundle(ROOT, SERVICE_PLACE);
  for (const path of bundledFiles(bundle))
    await cp(join(bundle, path), join(folder, "service-bundle", path));
};

/** Copies the programs, which this machine's compiler must make too, where it has the one that made them. */
const takePrograms = async (folder: string): Promise<void> => {
  for (const name of PROGRAM_NAMES) {
    for (const version of SBPF_VERSIONS) {
      const path = binaryPath(name, version);
      const committed = await readFile(path);
      const isSame = !hasCompiler() || committed.equals(await compileProgram(name, version));
      if (!isSame) throw new Error(`${relative(ROOT, path)} is not what its source compiles to`);
      await cp(path, join(folder, relative(dirname(path), path)));
    }
    await cp(join(ROOT, `programs/${name}.idl.json`), join(folder, `${name}.idl.json`));
  }
};

/** What a release consists of: each part writes its files into the release's folder. */
const PARTS: ReadonlyArray<(folder: string, revision: Revision) => Promise<void>> = [
  packClient,
  bundleService,
  async (folder) => void (await buildExecutable(join(folder, EXECUTABLE))),
  takePrograms,
  // A receipt without documents is the verifier in one file.
  async (folder) => writeFile(join(folder, "verify.html"), await receiptTemplate()),
  (folder, revision) =>
    writeFile(join(folder, "sbom.cdx.json"), json(billOfMaterials(ROOT, isoOf(revision)))),
];

/** The files below a folder, in the order of their paths. @throws Error for a link, whose bytes are elsewhere. */
export const filesBelow = async (folder: string): Promise<ReadonlyArray<ReleaseFile>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries)
    if (!entry.isFile() && !entry.isDirectory())
      throw new Error(`${join(entry.parentPath, entry.name)} is neither a file nor a folder`);
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .toSorted();
  return Promise.all(
    paths.map(async (path) => {
      const content = await readFile(join(folder, path));
      const sha256 = createHash("sha256").update(content).digest("hex");
      return { path, bytes: content.length, sha256 };
    }),
  );
};

/**
 * Makes a release of the sources below `ROOT` in `folder`, an absolute path that is emptied first. The same revision
 * gives the same bytes on every machine of one platform with the same Bun. @throws Error when a part cannot be made.
 */
export const makeRelease = async (
  folder: string,
  revision: Revision,
): Promise<ReadonlyArray<ReleaseFile>> => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const part of PARTS) await part(folder, revision);
  const release = {
    name: packageJson.name,
    version: packageJson.version,
    contract_version: CONTRACT_VERSION,
    commit: revision.commit,
    committed_at: isoOf(revision),
    bun: Bun.version,
    platform: `${process.platform}-${process.arch}`,
    files: await filesBelow(folder),
  };
  await writeFile(join(folder, RELEASE_FILE), json(release));
  const sums = (await filesBelow(folder)).map(({ path, sha256 }) => `${sha256}  ${path}\n`);
  await writeFile(join(folder, SUMS_FILE), sums.join(""));
  // A program's mode tells nobody what its bytes are, and the umask of this process must not decide it.
  for (const { path } of await filesBelow(folder))
    await chmod(join(folder, path), path === EXECUTABLE ? 0o755 : 0o644);
  return filesBelow(folder);
};

/** What a release says of itself, such as "1.0.0 of the commit 0123…". @throws Error for a file of another form. */
export const statedBy = async (folder: string): Promise<string> => {
  const text = await readFile(join(folder, RELEASE_FILE), "utf8");
  const { version, commit } = ((): { readonly version?: unknown; readonly commit?: unknown } => {
    try {
      return (JSON.parse(text) ?? {}) as object;
    } catch {
      return {};
    }
  })();
  if (!/^[0-9A-Za-z.+-]{1,64}$/.test(String(version)) || !/^[0-9a-f]{40}$/.test(String(commit)))
    throw new Error(`${RELEASE_FILE} names no version and commit`);
  return `${String(version)} of the commit ${String(commit)}`;
};

/**
 * Which files of a release, by its SHA256SUMS, are below `folder` as they must be, and which are not there. @throws Error
 * for a file of other bytes, for one that the sums do not name, and for sums of another form.
 */
export const checkSums = async (
  folder: string,
): Promise<{ readonly sound: ReadonlyArray<string>; readonly absent: ReadonlyArray<string> }> => {
  const there = new Map((await filesBelow(folder)).map(({ path, sha256 }) => [path, sha256]));
  const text = await readFile(join(folder, SUMS_FILE), "utf8");
  const stated = text
    .trimEnd()
    .split("\n")
    .map((line) => /^([0-9a-f]{64}) {2}(.+)$/.exec(line)?.slice(1) ?? []);
  const [sound, absent]: [Array<string>, Array<string>] = [[], []];
  for (const [sha256, path] of stated) {
    if (path === undefined) throw new Error(`${SUMS_FILE} has a line of another form`);
    const actual = there.get(path);
    if (actual !== undefined && actual !== sha256)
      throw new Error(`${path} has the SHA-256 ${actual}, and ${SUMS_FILE} says ${sha256}`);
    (actual === undefined ? absent : sound).push(path);
  }
  const named = new Set([...sound, SUMS_FILE, PROOF_FILE]);
  const planted = [...there.keys()].find((path) => !named.has(path));
  if (planted !== undefined)
    throw new Error(`${planted} is there, and ${SUMS_FILE} does not name it`);
  return { sound, absent };
};
