import { expect, test } from "bun:test";
import { LiteSvm } from "litesvm/dist/internal.js";
import { address, addressFromBytes, addressToBytes } from "../../core/domain/address.ts";
import {
  SYSTEM_PROGRAM,
  UPGRADEABLE_LOADER,
} from "../../core/protocol/addresses/well-known-addresses.ts";
import * as s from "./fixture/settlement.ts";
import { LEFT_OUT, newVirtualMachine } from "./fixture/virtual-machine.ts";

/** The owners of the accounts that a new LiteSVM contains (LiteSVM `spl.rs`, `builtin.rs`). */
const OWNERS = [
  "NativeLoader1111111111111111111111111111111",
  "BPFLoader1111111111111111111111111111111111",
  "BPFLoader2111111111111111111111111111111111",
  "Sysvar1111111111111111111111111111111111111",
  "Config1111111111111111111111111111111111111",
  "Feature111111111111111111111111111111111111",
]
  .map(address)
  .concat(UPGRADEABLE_LOADER, SYSTEM_PROGRAM);

/** Every account by its address, without the excluded programs and their code. */
const accountsOf = (vm: LiteSvm): Readonly<Record<string, string>> => {
  const all = OWNERS.flatMap((owner) =>
    vm.getProgramAccounts(addressToBytes(owner)).map((each) => {
      const account = each.account();
      const data = account.data();
      const digest = Bun.SHA256.hash(data, "hex");
      const held = [account.lamports(), account.executable(), account.rentEpoch(), digest];
      return { owner, address: addressFromBytes(each.address), data, held: held.join(" ") };
    }),
  );
  const hidden = new Set<string>(LEFT_OUT);
  for (const { address: program, data } of all)
    // A program's account ends with the address of its code.
    if (LEFT_OUT.has(program) && data.length === 36) hidden.add(addressFromBytes(data.slice(4)));
  return Object.fromEntries(
    all
      .filter((each) => !hidden.has(each.address))
      // Airdrops come from a random key.
      .map(({ owner, address, held }) => [owner === SYSTEM_PROGRAM ? "airdrops" : address, held]),
  );
};

test("the tests' ledger has every account of LiteSVM except those of the excluded programs", () => {
  const whole = new LiteSvm();
  const ours = newVirtualMachine();
  const expected = accountsOf(whole);
  const found = accountsOf(ours);
  const names = Object.keys({ ...expected, ...found });
  expect(names.length).toBeGreaterThan(250);
  expect(names.filter((name) => found[name] !== expected[name])).toEqual([]);
  expect(ours.latestBlockhash()).toBe(whole.latestBlockhash());
  expect(ours.getSigverify()).toBe(whole.getSigverify());
  expect(ours.getComputeBudget()).toEqual(whole.getComputeBudget());
});

test("a transaction that names an excluded program throws, because the test is wrong", () => {
  const [programAddress] = LEFT_OUT;
  if (programAddress === undefined) throw new Error("nothing is left out");
  const call = { programAddress, accounts: [], data: new Uint8Array() };
  expect(() => s.deployedLedger().send([call], [s.agent])).toThrow(programAddress);
});
