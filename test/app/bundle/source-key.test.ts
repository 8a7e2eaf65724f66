import { expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import {
  isBundledSource,
  ROOT,
  serviceBundle,
  sourceKey,
} from "../../../app/bundle/service-bundle.ts";
import { temporaryDirectory } from "../support/running-service.ts";

test("a changed, added or removed source gives another key, and the same sources the same", async () => {
  const directory = await temporaryDirectory();
  cpSync(join(ROOT, "core/domain"), join(directory.path, "core/domain"), { recursive: true });
  writeFileSync(join(directory.path, "bun.lock"), "one");
  const first = sourceKey(directory.path);
  const keys = [first];
  const change = (work: () => void): void => {
    work();
    keys.push(sourceKey(directory.path));
  };
  const file = join(directory.path, "core/domain/added.ts");
  change(() => writeFileSync(join(directory.path, "bun.lock"), "two"));
  change(() => writeFileSync(file, "1"));
  change(() => writeFileSync(file, "2"));
  change(() => writeFileSync(join(directory.path, "core/domain/added.css"), "2"));
  expect(new Set(keys).size).toBe(keys.length);
  rmSync(file);
  rmSync(join(directory.path, "core/domain/added.css"));
  writeFileSync(join(directory.path, "bun.lock"), "one");
  expect(sourceKey(directory.path)).toBe(first);
  await directory.remove();
});

test("the key covers every source of the service's bundle", async () => {
  const folder = await serviceBundle();
  const maps = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".map"),
  );
  const sources = maps.flatMap((name) => {
    const map = JSON.parse(readFileSync(join(folder, name), "utf8")) as { sources: Array<string> };
    return map.sources.map((source) => relative(ROOT, join(folder, dirname(name), source)));
  });
  const own = sources.filter((path) => !path.startsWith("node_modules/"));
  expect(own).toContain("app/main.ts");
  expect(own.length).toBeGreaterThan(500);
  expect(own.filter((path) => !isBundledSource(path))).toEqual([]);
});
