import { afterAll, expect, test } from "bun:test";
import { spawnLedger } from "../adapters/local-ledger/ledger-process.ts";
import { withDemoLedger } from "./support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
} from "./support/running-service.ts";

/** The demo's escrow that was released, of the README. */
const FULFILLED = "H4QKC5LxLZY7yRzSz39qtenAWWq9npiJe6uZbxS56uoG";

const directory = await temporaryDirectory();
afterAll(directory.remove);

/** What the service over the folder's own ledger answers to a sync and to the README's request to archive. */
const archiving = async () => {
  const service = await runService(quietEnvironment(directory.path));
  // A service listens before its stores are open.
  const sync = await until(
    "the index is synced",
    () => fetch(`${service.url}/v1/indexer/sync`, { method: "POST" }),
    ({ ok }) => ok,
  );
  const response = await fetch(`${service.url}/v1/escrows/${FULFILLED}/archive/prepare`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  const answer = (await response.json()) as { readonly rule?: string };
  await service.stop();
  return [sync.status, response.status, answer.rule ?? null];
};

test("a week that the ledger skips lets a demo escrow be archived, and the index follows it", async () => {
  withDemoLedger(directory.path);
  expect(await archiving()).toEqual([202, 409, "not_archivable"]);
  const { child } = await spawnLedger(directory.path, "--skip-days", "8");
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  expect(await archiving()).toEqual([202, 200, null]);
}, 60_000);
