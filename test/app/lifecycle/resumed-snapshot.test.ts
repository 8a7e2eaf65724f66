import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { PagingLedger } from "../../simulation/paging-ledger.ts";
import { ChainNode } from "../../world/chain-node.ts";
import { type RpcCall, serveNode } from "../../simulation/serve-node.ts";
import type { SyncedOnce } from "../../simulation/sync-once.ts";

/** More events than one page of accounts, so that the scan comes in pages. */
const ESCROWS = 7000;
const PAGE = 2000;
const SCRIPT = join(import.meta.dir, "../../simulation/sync-once.ts");
const folder = mkdtempSync(join(tmpdir(), "settlement-resume-"));
afterAll(() => rmSync(folder, { recursive: true }));

type Page = {
  readonly paginationKey?: string;
  readonly filters: ReadonlyArray<{ readonly dataSize?: number }>;
};

const start = (url: string) =>
  Bun.spawn([process.execPath, SCRIPT, url, folder], { stdout: "pipe", stderr: "inherit" });

/** A node that ends a process of ours, instead of an answer, when a page is asked for. */
const killing = (size: number) => {
  const ledger = new PagingLedger(size);
  const node = new ChainNode(ledger, { pages: true, transactions: false });
  node.mostPerPage = PAGE;
  const cursors: Array<string | null> = [];
  const aim = { at: -1, kill: () => {} };
  const server = serveNode((call: RpcCall) => {
    const [program, options] = call.params as readonly [string, Page];
    if (call.method === "getProgramAccountsV2" && program === LOCAL_DEPLOYMENT.custodyProgram) {
      cursors.push(options.paginationKey ?? null);
      if (cursors.length === aim.at) {
        aim.kill();
        return new Promise<never>(() => {});
      }
    }
    return node.answer(call);
  });
  return { ledger, node, cursors, aim, server };
};

test("a first snapshot that is killed goes on behind its last page, also while the ledger grows", async () => {
  const { ledger, node, cursors, aim, server } = killing(ESCROWS);
  try {
    const first = start(server.url);
    aim.at = 4;
    aim.kill = () => first.kill("SIGKILL");
    await first.exited;
    expect(first.signalCode).toBe("SIGKILL");
    expect(cursors).toEqual([null, "after-2000", "after-4000", "after-6000"]);
    const begun = ledger.count;
    expect(ledger.refund(40)).toBe(40);

    aim.at = -1;
    cursors.length = 0;
    const transactionsBefore = node.asked["getTransaction"] ?? 0;
    const second = start(server.url);
    const text = await new Response(second.stdout).text();
    expect(await second.exited).toBe(0);
    const synced = JSON.parse(text) as SyncedOnce;
    // Escrows from the last page on, or from the one before when its end was not kept yet, and then the tombstones.
    const [from] = cursors;
    expect(["after-4000", "after-6000"]).toContain(String(from));
    expect(cursors.slice(-2)).toEqual(["after-6000", null]);
    expect(cursors.length).toBe(from === "after-6000" ? 2 : 3);
    expect(synced).toMatchObject({
      mode: "snapshot",
      count: String(begun + 40n),
      root: ledger.root,
      escrows: ESCROWS,
      merchants: 50,
    });
    // The 40 later events come from the history.
    expect((node.asked["getTransaction"] ?? 0) - transactionsBefore).toBeGreaterThanOrEqual(40);
    expect(existsSync(join(folder, "snapshot.spool"))).toBe(false);
  } finally {
    server[Symbol.dispose]();
  }
}, 120_000);
