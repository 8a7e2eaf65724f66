import { describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { SHIPPED } from "../../app/bundle/build-executable.ts";
import { variables } from "../../app/config/environment.ts";
import { witnessVariables } from "../../app/config/witness-environment.ts";
import { isOwnersAlone } from "../../adapters/signer/key-file.ts";
import packageJson from "../../package.json" with { type: "json" };
import { tmpdir } from "../temporary-root.ts";

const OPS = join(import.meta.dir, "../../ops");
const UNITS = join(OPS, "systemd");
const units = readdirSync(UNITS).filter((name) => name.endsWith(".service"));
const read = (file: string): string => readFileSync(join(OPS, file), "utf8");

/** `systemd-analyze security` rates a service from 0, which can do nothing, to 100. */
const MOST_EXPOSED = 15;

/** Runs systemd-analyze on the units, with a Bun that is there. */
const analyze = (...args: ReadonlyArray<string>) => {
  const folder = mkdtempSync(join(tmpdir(), "settlement-units-"));
  try {
    cpSync(UNITS, folder, { recursive: true });
    for (const unit of units) {
      const text = read(`systemd/${unit}`);
      writeFileSync(
        join(folder, unit),
        text.replace(/^ExecStart=bun /m, `ExecStart=${process.execPath} `),
      );
    }
    const { exitCode, stdout, stderr } = Bun.spawnSync(["systemd-analyze", "--no-pager", ...args], {
      cwd: folder,
      // Before the machine's own units, which they name.
      env: { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` },
    });
    return { exitCode, said: `${stdout.toString()}${stderr.toString()}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

describe.skipIf(Bun.which("systemd-analyze") === null)("by systemd-analyze", () => {
  test("the units have nothing that systemd does not know", () => {
    expect(analyze("verify", ...units)).toEqual({ exitCode: 0, said: "" });
  });

  test.each(units)("%s can do little beyond its work", (unit) => {
    const args = ["security", "--offline=true", `--threshold=${MOST_EXPOSED}`, unit];
    const { exitCode, said } = analyze(...args);
    expect([exitCode, exitCode === 0 ? "" : said]).toEqual([0, ""]);
  });
});

test("every variable that a unit, the image or the composition sets is a setting", () => {
  const known = new Set(
    [...Object.values(variables), ...Object.values(witnessVariables)].map(
      ({ documented: { name } }) => name,
    ),
  );
  const foreign = /^(?:POSTGRES_|GF_)/;
  const inUnits = units.flatMap((unit) =>
    Array.from(read(`systemd/${unit}`).matchAll(/^Environment=(.*)$/gm), ([, line = ""]) =>
      line.split(" ").map((each) => each.split("=")[0] ?? ""),
    ).flat(),
  );
  const inImage = Array.from(read("Containerfile").matchAll(/^ENV (.*)$/gm), ([, line = ""]) =>
    line.split(" ").map((each) => each.split("=")[0] ?? ""),
  ).flat();
  const inComposition = Array.from(
    read("compose.yml").matchAll(/^ {6}([A-Z][A-Z_]+): /gm),
    ([, name = ""]) => name,
  );
  const named = [...inUnits, ...inImage, ...inComposition].filter((name) => !foreign.test(name));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test("the image has the Bun of package.json", () => {
  const versions = Array.from(
    read("Containerfile").matchAll(/oven\/bun:([\d.]+)-slim/g),
    (m) => m[1],
  );
  expect(new Set(versions)).toEqual(new Set([packageJson.engines.bun]));
});

test("the image and the executable hold the same of the repository", () => {
  const copied = Array.from(read("Containerfile").matchAll(/^COPY (?!--)(.*) \S+$/gm), (m) =>
    (m[1] ?? "").split(" "),
  ).flat();
  expect(copied.toSorted()).toEqual([...SHIPPED].toSorted());
});

test("a key that a group may read is refused, but for systemd's credentials", () => {
  const file = (mode: number, uid = 0, gid = 0) =>
    isOwnersAlone({ mode: 0o100_000 | mode, uid, gid });
  expect([file(0o600), file(0o400), file(0o440)]).toEqual([true, true, true]);
  expect([file(0o600, 1000, 1000), file(0o440, 1000, 1000), file(0o440, 0, 1000)]).toEqual([
    true,
    false,
    false,
  ]);
  for (const others of [0o640, 0o444, 0o404, 0o460, 0o450, 0o402, 0o401])
    expect([others, file(others)]).toEqual([others, false]);
});
