import { expect, test } from "bun:test";
import { address } from "../../../../core/domain/address.ts";
import { networkIdOf, networkLeaf } from "../../../../core/log/leaf/event-leaf.ts";

const custodyProgram = address("SysvarC1ock11111111111111111111111111111111");
const attestorProgram = address("SysvarRent111111111111111111111111111111111");
const genesis = address("4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY");

test("leaf 0 is the canonical JSON of rules, ledger and programs", () => {
  const leaf = networkLeaf(genesis, { custodyProgram, attestorProgram });
  expect(new TextDecoder().decode(leaf)).toBe(
    `{"attestor_program":"${attestorProgram}","custody_program":"${custodyProgram}",` +
      `"genesis_hash":"${genesis}","version":1}`,
  );
});

test("the network's id is the beginning of the plain hash of leaf 0", () => {
  const leaf = networkLeaf(genesis, { custodyProgram, attestorProgram });
  const digest = new Bun.CryptoHasher("sha256").update(leaf).digest("hex");
  expect(networkIdOf(leaf)).toBe(digest.slice(0, 16));
  const other = networkLeaf(genesis, {
    custodyProgram: attestorProgram,
    attestorProgram: custodyProgram,
  });
  expect(networkIdOf(other)).not.toBe(networkIdOf(leaf));
});
