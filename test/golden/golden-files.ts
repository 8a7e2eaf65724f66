import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { PROGRAM_NAMES } from "../../programs/compile.ts";
import { installedOffline } from "../client/package/installed.ts";
import { declarationsOf } from "./client-compatible.ts";
import { httpOutline } from "./http-outline.ts";

/** A folder for each release, by its version. */
export const GOLDEN = import.meta.dir;
const ROOT = join(GOLDEN, "../..");
const EVIDENCE = join(ROOT, "test/vectors/evidence");

/** The packets of a release: one for each state, of single payments and of sessions, and one with a proof of the log. */
export const PACKETS = [
  "pending.json",
  "pending-expired.json",
  "fulfilled.json",
  "partially-fulfilled.json",
  "refunded.json",
  "cancelled.json",
  "session-open.json",
  "session-closed.json",
  "session-released.json",
  "session-cancelled.json",
];

/** A program's interface without its words: its accounts, instructions, events, errors, types and constants. */
export type ProgramOutline = Readonly<
  Record<string, ReadonlyArray<{ readonly name: string } & Readonly<Record<string, unknown>>>>
>;
const LISTS = ["instructions", "accounts", "events", "errors", "types", "constants"] as const;

/** The outline of an IDL's text. */
export const programOutline = (idl: string): ProgramOutline => {
  const whole = JSON.parse(idl, (name, value: unknown) =>
    name === "docs" || name === "msg" ? undefined : value,
  ) as ProgramOutline;
  return Object.fromEntries(LISTS.map((list) => [list, whole[list] ?? []]));
};

/** What today's tree has otherwise than a release, a line each; none where things were only added. */
export const programFaults = (then: ProgramOutline, now: ProgramOutline): ReadonlyArray<string> =>
  Object.entries(then).flatMap(([list, entries]) =>
    entries.flatMap((entry) => {
      const today = now[list]?.find(({ name }) => name === entry.name);
      if (today === undefined) return [`${list} ${entry.name}: is gone`];
      return Bun.deepEquals(today, entry) ? [] : [`${list} ${entry.name}: has changed`];
    }),
  );

/** The outline of the HTTP contract as it is today. */
export const httpOfToday = async () =>
  httpOutline(await Bun.file(join(ROOT, "test/vectors/http-answers/openapi.json")).text());

/** The outlines of both programs as they are today. */
export const programsOfToday = async (): Promise<Readonly<Record<string, ProgramOutline>>> =>
  Object.fromEntries(
    await Promise.all(
      PROGRAM_NAMES.map(
        async (name) =>
          [
            name,
            programOutline(await Bun.file(join(ROOT, `programs/${name}.idl.json`)).text()),
          ] as const,
      ),
    ),
  );

/** Writes the golden files of today's version. They are never written again once the version is out. */
const writeGolden = async (): Promise<void> => {
  const folder = join(GOLDEN, packageJson.version);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "packets"), { recursive: true });
  const write = (name: string, value: unknown): Promise<void> =>
    writeFile(join(folder, name), `${JSON.stringify(value)}\n`);
  await write("http.json", await httpOfToday());
  await write("programs.json", await programsOfToday());
  const installed = await installedOffline();
  await write("client-types.json", await declarationsOf(installed));
  await rm(installed.folder, { recursive: true });
  for (const name of [...PACKETS, "call.json", "trust.json", "log-trust.json"])
    await writeFile(join(folder, "packets", name), await readFile(join(EVIDENCE, name)));
  const logged = JSON.parse(
    await readFile(join(EVIDENCE, "log-packets.json"), "utf8"),
  ) as ReadonlyArray<{
    readonly name: string;
    readonly packet: string;
  }>;
  await writeFile(
    join(folder, "packets/logged.json"),
    logged.find(({ name }) => name === "settled")?.packet ?? "",
  );
};

/** The versions that have golden files. */
export const goldenVersions = async (): Promise<ReadonlyArray<string>> =>
  (await readdir(GOLDEN)).filter((name) => existsSync(join(GOLDEN, name, "http.json")));

if (import.meta.main) await writeGolden();
