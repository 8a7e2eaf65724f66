import { expect, test } from "bun:test";
import { address, addressToBytes } from "../../../../core/domain/address.ts";
import { networkIdOf, networkLeaf } from "../../../../core/log/leaf/event-leaf.ts";

const custodyProgram = address("SysvarC1ock11111111111111111111111111111111");
const other = address("SysvarRent111111111111111111111111111111111");
const genesis = address("4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY");

test("leaf 0 is the kind 0x00 and the domain of ledger and custody program", () => {
  const domain = new Bun.CryptoHasher("sha256")
    .update("settlement-evidence 3")
    .update(Uint8Array.of(0))
    .update(addressToBytes(genesis))
    .update(addressToBytes(custodyProgram))
    .digest();
  const leaf = networkLeaf(genesis, custodyProgram);
  expect(leaf).toEqual(Uint8Array.of(0, ...domain));
  expect(leaf.length).toBe(33);
});

test("the network's id is the beginning of the plain hash of leaf 0", () => {
  const leaf = networkLeaf(genesis, custodyProgram);
  const digest = new Bun.CryptoHasher("sha256").update(leaf).digest("hex");
  expect(networkIdOf(leaf)).toBe(digest.slice(0, 16));
  for (const another of [networkLeaf(genesis, other), networkLeaf(custodyProgram, genesis)])
    expect(networkIdOf(another)).not.toBe(networkIdOf(leaf));
});
