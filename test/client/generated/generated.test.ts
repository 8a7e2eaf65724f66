import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { contractTypes } from "./contract-types.ts";

const folder = join(import.meta.dir, "../../../client/generated");

test("what is generated for the client is what the served contract gives now", async () => {
  expect(await readdir(folder)).toEqual(["contract.ts"]);
  const kept = await Bun.file(join(folder, "contract.ts")).text();
  expect(kept === (await contractTypes())).toBe(true);
}, 60_000);
