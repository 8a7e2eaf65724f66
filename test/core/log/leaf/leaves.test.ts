import { expect, test } from "bun:test";
import fc from "fast-check";
import { sha256 } from "../../../../core/domain/sha256.ts";
import {
  isSettlementLeaf,
  networkIdOf,
  networkLeaf,
} from "../../../../core/log/leaf/event-leaf.ts";
import { leavesOfEscrow, leavesOfTombstone } from "../../../../core/log/leaf/escrow-leaves.ts";
import { decodeArchivedEscrowAccount } from "../../../../core/protocol/accounts/archived-escrow-account.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { tombstoneAccount } from "../../../doubles/tombstone.ts";
import {
  type Escrow,
  ESCROW_STATES,
  type EscrowState,
} from "../../../../core/domain/escrow/escrow.ts";
import { type Address, address, addressToBytes } from "../../../../core/domain/address.ts";

/** An escrow as it was right after its creation. */
const created = (escrow: Escrow): Escrow => ({
  ...escrow,
  state: "Pending",
  released: 0n,
  deliveries: 0,
  closesAt: null,
  settledAt: null,
  settledBy: null,
  attestation: null,
  settledSeq: null,
});

const settled = anyEscrow(LOCAL_DEPLOYMENT, ["Fulfilled", "Refunded", "PartiallyFulfilled"]);

/** The leaf of an event as docs/log.md says it, which has 66 bytes. */
const leafOf = (state: EscrowState, escrow: Address, data: Uint8Array): Uint8Array => {
  const leaf = Uint8Array.of(
    1,
    ESCROW_STATES.indexOf(state),
    ...addressToBytes(escrow),
    ...sha256(data),
  );
  expect(leaf.length).toBe(66);
  return leaf;
};

test("a Pending escrow has the one leaf of its creation, whatever was captured of it", () => {
  fc.assert(
    fc.property(anyEscrow(LOCAL_DEPLOYMENT, ["Pending"]), (escrow) => {
      const leaves = leavesOfEscrow(escrow, encodeEscrowAccount(escrow));
      const data = encodeEscrowAccount(created(escrow));
      expect(leaves.map(({ seq }) => seq)).toEqual([escrow.createdSeq]);
      expect(leaves[0]?.leaf).toEqual(leafOf("Pending", escrow.address, data));
    }),
    runs(30),
  );
});

test("a settled escrow keeps the leaf that its creation had, and has that of its settlement", () => {
  fc.assert(
    fc.property(settled, (escrow) => {
      const pending = created(escrow);
      const data = encodeEscrowAccount(escrow);
      const [first, last] = leavesOfEscrow(escrow, data);
      expect(leavesOfEscrow(pending, encodeEscrowAccount(pending))).toEqual(
        first === undefined ? [] : [first],
      );
      expect(last?.seq).toBe(escrow.settledSeq ?? 0n);
      expect(last?.leaf).toEqual(leafOf(escrow.state, escrow.address, data));
    }),
    runs(30),
  );
});

test("its tombstone gives the same two leaves", () => {
  fc.assert(
    fc.property(settled, (escrow) => {
      const account = tombstoneAccount(escrow, LOCAL_DEPLOYMENT.custodyProgram);
      const tombstone = decodeArchivedEscrowAccount(account, LOCAL_DEPLOYMENT);
      if ("fault" in tombstone) throw new Error(tombstone.fault);
      expect(leavesOfTombstone(escrow.address, tombstone.value) as ReadonlyArray<unknown>).toEqual(
        leavesOfEscrow(escrow, encodeEscrowAccount(escrow)),
      );
    }),
    runs(30),
  );
});

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

test("a leaf is that of a settlement for its own escrow only, and a creation's is never", () => {
  fc.assert(
    fc.property(settled, anyEscrow(LOCAL_DEPLOYMENT), (escrow, other) => {
      fc.pre(escrow.address !== other.address);
      const leaves = leavesOfEscrow(escrow, encodeEscrowAccount(escrow));
      const own = addressToBytes(escrow.address);
      expect(leaves.map(({ leaf }) => isSettlementLeaf(leaf, own))).toEqual([false, true]);
      for (const { leaf } of leaves)
        expect(isSettlementLeaf(leaf, addressToBytes(other.address))).toBe(false);
    }),
    runs(30),
  );
  const leaf0 = networkLeaf(LOCAL_DEPLOYMENT.custodyProgram, LOCAL_DEPLOYMENT.custodyProgram);
  expect(isSettlementLeaf(leaf0, leaf0.subarray(2))).toBe(false);
});
