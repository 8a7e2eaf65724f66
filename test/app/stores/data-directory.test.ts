import { afterAll, expect, test } from "bun:test";
import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { diagnose } from "../../../app/doctor/diagnose.ts";
import { claimDataDirectory } from "../../../app/stores/data-directory.ts";
import { quietEnvironment, temporaryDirectory, synced } from "../support/running-service.ts";
import { startedServices } from "../support/started-services.ts";

const { start } = startedServices();
const directory = await temporaryDirectory();
afterAll(() => directory.remove());

test("a directory that cannot be made is refused with its path, the cause and the cure", async () => {
  const claimed = Effect.scoped(claimDataDirectory("/dev/null/data"));
  const { path, reason } = await Effect.runPromise(Effect.flip(claimed));
  expect(path).toBe("/dev/null/data");
  expect(reason).toStartWith("it cannot be written (");
  expect(reason).toEndWith("; fix that or set another DATA_DIR");
});

/** What is in a folder, itself included, by the mode that others than its owner have of it. */
const openToOthers = (folder: string): ReadonlyArray<string> =>
  [folder, ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))]
    .map((path) => `${path} ${(statSync(path).mode & 0o777).toString(8)}`)
    .filter((line) => !/ [0-7]00$/.test(line));

test("what a first start makes can be read by its user alone", async () => {
  const DATA_DIR = join(directory.path, "above/data");
  const settings = { ...quietEnvironment(DATA_DIR), LOG_LEVEL: "info", LOCAL_LEDGER_DEMO: "false" };
  const service = start(settings);
  await synced(await service.url);
  const made = readdirSync(DATA_DIR);
  for (const name of ["index.sqlite-wal", "relay.sqlite", "packets.sqlite", "local-ledger", "log"])
    expect(made).toContain(name);
  expect(openToOthers(join(directory.path, "above"))).toEqual([]);
  service.kill("SIGTERM");
  const { code, stdout } = await service.ended;
  expect(code).toBe(0);
  expect(stdout).not.toContain("others");

  // A folder that others may read was made so by its owner, or by an older service. It stays as it is.
  chmodSync(DATA_DIR, 0o755);
  const second = start(settings);
  await second.url;
  second.kill("SIGTERM");
  const warned = `${DATA_DIR} can be read by every user of this machine; run chmod -R go= on it`;
  expect((await second.ended).stdout).toContain(warned);
  expect(statSync(DATA_DIR).mode & 0o777).toBe(0o755);
  const findings = await Effect.runPromise(diagnose(settings, Bun.version));
  expect(findings.find(({ check }) => check === "data")?.text).toContain(warned);
}, 60_000);
