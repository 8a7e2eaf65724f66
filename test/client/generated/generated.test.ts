import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { contractTypes } from "./contract-types.ts";
import { programClients } from "./program-clients.ts";

const folder = join(import.meta.dir, "../../../client/generated");

test("what is generated for the client is what the served contract and the programs' IDLs give now", async () => {
  const made = { "contract.ts": await contractTypes(), ...(await programClients()) };
  const kept = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith(".ts"));
  expect(kept.toSorted()).toEqual(Object.keys(made).toSorted());
  for (const [path, text] of Object.entries(made))
    expect([path, (await Bun.file(join(folder, path)).text()) === text]).toEqual([path, true]);
}, 60_000);
