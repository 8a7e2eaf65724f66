import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { attestationFiles } from "../../../client/node/attestation-files.ts";
import { temporaryDirectory } from "../../app/support/running-service.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(() => directory.remove());

const claim = (hash: string) => ({
  version: 3 as const,
  network: "net",
  escrow: "escrow",
  terms: "terms",
  attestor: "attestor",
  proof_hash: hash,
  total: "1",
  deliveries: 1,
  final: true,
  template_id: null,
  payload: "{}",
});

test("of many claims at once one is kept, by every journal of the folder, and no draft stays", async () => {
  const folder = join(directory.path, "journal");
  const kept = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      attestationFiles(folder).keep(claim(`${i % 5}`.repeat(64))),
    ),
  );
  expect(new Set(kept.map(({ proof_hash }) => proof_hash)).size).toBe(1);
  expect(await readdir(join(folder, "net"))).toEqual(["terms.json"]);
  expect((await stat(join(folder, "net/terms.json"))).mode & 0o777).toBe(0o600);
  expect(await attestationFiles(folder).keep(claim("f".repeat(64)))).toEqual(
    kept[0] ?? claim("none"),
  );
});

test("a damaged file is a refusal, never a new claim", async () => {
  await Bun.write(join(directory.path, "net/terms.json"), "");
  const kept = attestationFiles(directory.path).keep(claim("a".repeat(64)));
  expect(await kept.catch((cause: unknown) => cause)).toMatchObject({ code: "journal_damaged" });
});
