import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ManagedRuntime } from "effect";
import { escrowIndexSqlite } from "../../../adapters/sqlite/escrow-index.ts";
import { EscrowIndex } from "../../../ports/escrow-index.ts";
import { batchOf } from "../../arbitraries/index-history.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { tmpdir } from "../../temporary-root.ts";

test("what another one writes to the same file changes the revision, and asking does not", async () => {
  const folder = mkdtempSync(join(tmpdir(), "store-revision-"));
  const identity = { genesisHash: TEST_GENESIS_HASH, deployment: TEST_DEPLOYMENT };
  const open = () =>
    ManagedRuntime.make(escrowIndexSqlite({ path: join(folder, "index.sqlite"), ...identity }));
  const [one, other] = [open(), open()];
  const revision = () => one.runPromise(EscrowIndex.use((index) => index.revision));
  const first = await revision();
  expect(await revision()).toBe(first);
  const markOf = (slot: bigint) => batchOf([], { checkpoint: { slot, ledgerTime: 1n, atMs: 1 } });
  await other.runPromise(EscrowIndex.use((index) => index.apply(markOf(1n))));
  const second = await revision();
  expect(second).not.toBe(first);
  expect(await revision()).toBe(second);
  await one.runPromise(EscrowIndex.use((index) => index.apply(markOf(2n))));
  expect(await revision()).not.toBe(second);
  await Promise.all([one.dispose(), other.dispose()]);
  rmSync(folder, { recursive: true });
});
