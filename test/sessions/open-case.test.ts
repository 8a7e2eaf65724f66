import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { temporaryDirectory } from "../app/support/running-service.ts";
import type { Stand } from "../pays-once/stand.ts";
import { openCase } from "./open-case.ts";

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("a seller that is killed twice at once is started again, and none is left behind", async () => {
  const directory = await temporaryDirectory();
  const stand = {
    url: () => "",
    rpc: () => "",
    fund: () => Promise.resolve(),
    holdings: () => Promise.resolve({ units: 0n, escrows: [] }),
  } as unknown as Stand;
  const seller = 'echo $$ >> "$STORE/pids"; echo http://127.0.0.1:9; exec sleep 1000';
  const place = { name: "ours", stand, folder: directory.path, trustFile: "", seed: 1 };
  const kill = { who: "seller", at: 0, when: "before the seller", afterMs: 0 } as const;
  const options = { calls: 1, kills: [kill, kill] };
  const played = await openCase({ ...place, seller, buyer: "exit 1" }, "killed twice", options);
  await played.startSellers();
  await Promise.allSettled([fetch(played.proxy.url), fetch(played.proxy.url)]);
  await played.stop();
  const pids = (await readFile(join(played.store, "pids"), "utf8")).trim().split("\n").map(Number);
  expect(pids.length).toBeGreaterThan(1);
  expect(pids.filter(isAlive)).toEqual([]);
  await directory.remove();
});
