import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { billOfMaterials } from "../../../app/release/bill-of-materials.ts";
import { differences } from "../../../app/release/reproduce.ts";
import { ROOT } from "../../../app/bundle/service-bundle.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { temporaryDirectory } from "../support/running-service.ts";

const bill = billOfMaterials(ROOT, "2026-11-28T18:00:00.000Z");

test("the bill of materials has each production dependency, its licence and its file's hash", () => {
  const named = new Map(bill.components.map((each) => [each.name, each]));
  for (const [name, version] of Object.entries(packageJson.dependencies))
    expect(named.get(name)?.version, name).toBe(version);
  for (const name of ["@types/bun", "playwright-core", "oxlint"])
    expect(named.has(name)).toBe(false);
  for (const { name, version, purl, licenses, hashes } of bill.components) {
    expect(purl).toBe(`pkg:npm/${name.replace("@", "%40")}@${version}`);
    expect(licenses, name).toHaveLength(1);
    expect(hashes?.[0]?.content, name).toMatch(/^[0-9a-f]{128}$/);
  }
});

test("each reference in it leads to one component, and every component is reached", () => {
  const refs = [bill.metadata.component, ...bill.components].map((each) => each["bom-ref"]);
  expect(new Set(refs).size).toBe(refs.length);
  expect(bill.dependencies.map(({ ref }) => ref).toSorted()).toEqual(refs.toSorted());
  const reached = new Set([bill.metadata.component["bom-ref"]]);
  for (const ref of reached)
    for (const next of bill.dependencies.find((each) => each.ref === ref)?.dependsOn ?? [])
      reached.add(next);
  expect([...reached].toSorted()).toEqual(refs.toSorted());
});

test("a package finds its own version of another before the common one", async () => {
  const directory = await temporaryDirectory();
  const packages = {
    a: ["a@1.0.0", "", { dependencies: { b: "^2" }, optionalPeers: [] }, "sha512-AA=="],
    b: ["b@1.0.0", "", { optionalDependencies: { elsewhere: "1" } }, "sha512-AQ=="],
    "a/b": ["b@2.0.0", "", { peerDependencies: { d: "1" }, optionalPeers: ["d"] }, "sha512-Ag=="],
    d: ["d@1.0.0", "", {}, "sha512-Aw=="],
    elsewhere: ["elsewhere@1.0.0", "", { os: "none" }, "sha512-BA=="],
  };
  const write = (path: string, content: object): void => {
    mkdirSync(join(directory.path, path, ".."), { recursive: true });
    writeFileSync(join(directory.path, path), JSON.stringify(content));
  };
  write("bun.lock", { packages });
  write("package.json", {
    name: "x",
    version: "1.0.0",
    license: "MIT",
    dependencies: { a: "1", b: "1" },
  });
  write("node_modules/a/package.json", { license: "MIT" });
  write("node_modules/b/package.json", { license: "(MIT OR ISC)" });
  write("node_modules/a/node_modules/b/package.json", { license: "ISC" });
  const { components, dependencies } = billOfMaterials(directory.path, "");
  expect(components.map(({ purl, licenses }) => [purl, licenses])).toEqual([
    ["pkg:npm/a@1.0.0", [{ license: { id: "MIT" } }]],
    ["pkg:npm/b@1.0.0", [{ expression: "(MIT OR ISC)" }]],
    ["pkg:npm/b@2.0.0", [{ license: { id: "ISC" } }]],
  ]);
  expect(dependencies).toContainEqual({ ref: "pkg:npm/a@1.0.0", dependsOn: ["pkg:npm/b@2.0.0"] });
  expect(dependencies).toContainEqual({
    ref: "pkg:npm/x@1.0.0",
    dependsOn: ["pkg:npm/a@1.0.0", "pkg:npm/b@1.0.0"],
  });
  await directory.remove();
});

test("a file that is missing, added or changed in one byte is named, with where", async () => {
  const directory = await temporaryDirectory();
  const [one, other] = [join(directory.path, "one"), join(directory.path, "other")];
  for (const folder of [one, other]) {
    mkdirSync(join(folder, "deep"), { recursive: true });
    writeFileSync(join(folder, "same"), "same");
    writeFileSync(join(folder, "deep/changed"), "the same beginning, 1");
  }
  expect(await differences(one, other)).toEqual([]);
  writeFileSync(join(other, "deep/changed"), "the same beginning, 2");
  writeFileSync(join(one, "first"), "");
  writeFileSync(join(other, "second"), "");
  expect(await differences(one, other)).toEqual([
    { path: "deep/changed", how: expect.stringContaining("from byte 20 on: ") },
    { path: "first", how: `${other} lacks it` },
    { path: "second", how: `${one} lacks it` },
  ]);
  await directory.remove();
});

test("the release's folder is of no commit", () => {
  expect(readFileSync(join(ROOT, ".gitignore"), "utf8").split("\n")).toContain("/release");
});
