import { afterAll, expect, test } from "bun:test";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { SCHEMA_VERSION } from "../../../adapters/sqlite/open-store.ts";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main as restore } from "../../../app/commands/restore.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { runHere } from "../support/run-here.ts";
import { temporaryDirectory } from "../support/running-service.ts";
import { fillStores, goldenVersions, readContent, unpackGolden } from "./golden-store.ts";

const directory = await temporaryDirectory();
afterAll(() => directory.remove());

const restoring = (backup: string, dataDir: string) =>
  runHere((io) => runCommand(restore, ["--from", backup, "--data-dir", dataDir], io), {
    env: {
      SOLANA_RPC_URL: "http://127.0.0.1:9",
      SOLANA_CLUSTER: "localnet",
      CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
      ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
    },
  });

const versions = await goldenVersions();

test("the stores of this schema are kept: a new one needs bun run test:more golden-store", () =>
  expect(versions).toContain(SCHEMA_VERSION));

test.each(versions.map((version) => [version]))(
  "stores of schema %i are opened with all that they held, or refused with the cure",
  async (version) => {
    const place = (name: string) => join(directory.path, `${name}-${version}`);
    await unpackGolden(version, place("backup"));
    const run = await restoring(place("backup"), place("data"));
    if (version !== SCHEMA_VERSION) {
      expect(run).toMatchObject({
        code: 65,
        stderr: expect.stringMatching(/^backup_of_another_version: .*begin with an empty DATA_DIR/),
      });
      return;
    }
    expect(run).toMatchObject({ code: 0, stderr: "" });
    await fillStores(place("anew"));
    const content = await readContent(place("data"));
    expect(content).toEqual(await readContent(place("anew")));
    expect(content).toMatchObject({
      packet: '{"a":"packet"}',
      key: { status: "answered", answer: "an answer" },
      relayed: { lastValidBlockHeight: 2n ** 61n + 5n, outcome: { status: "landed", slot: 12n } },
    });
    expect(content.shown.escrows).toHaveLength(12);
    expect(content.leaves.length).toBeGreaterThan(12);
  },
);

test("all golden stores together are small", async () => {
  const folder = join(import.meta.dir, "../../vectors/stores");
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  const sizes = files.map(({ parentPath, name }) => stat(join(parentPath, name)));
  const bytes = (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0);
  expect(bytes).toBeLessThan(100_000 * versions.length);
});
