import { expect, test } from "bun:test";
import fc from "fast-check";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { sha256 } from "../../../../core/domain/sha256.ts";
import {
  decodeEventLeaf,
  encodeEventLeaf,
  EVENT_LEAF_LENGTH,
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
import { type Escrow, ESCROW_STATES } from "../../../../core/domain/escrow/escrow.ts";
import { anyAddress, anyHash32, bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { address, addressToBytes } from "../../../../core/domain/address.ts";

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

test("a Pending escrow has the one leaf of its creation, whatever was captured of it", () => {
  fc.assert(
    fc.property(anyEscrow(LOCAL_DEPLOYMENT, ["Pending"]), (escrow) => {
      const leaves = leavesOfEscrow(escrow, encodeEscrowAccount(escrow));
      const data = encodeEscrowAccount(created(escrow));
      expect(leaves.map(({ seq }) => seq)).toEqual([escrow.createdSeq]);
      expect(decodeEventLeaf(leaves[0]?.leaf ?? data)).toEqual({
        value: {
          state: "Pending",
          escrow: escrow.address,
          accountHash: hash32FromBytes(sha256(data)),
        },
      });
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
      expect(decodeEventLeaf(last?.leaf ?? data)).toEqual({
        value: {
          state: escrow.state,
          escrow: escrow.address,
          accountHash: hash32FromBytes(sha256(data)),
        },
      });
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

const anyLeaf = fc.record({
  state: fc.constantFrom(...ESCROW_STATES),
  escrow: anyAddress,
  accountHash: anyHash32,
});

test("encode and decode are inverse, and a leaf has 66 bytes", () => {
  fc.assert(
    fc.property(anyLeaf, (leaf) => {
      const bytes = encodeEventLeaf(leaf);
      expect(bytes.length).toBe(EVENT_LEAF_LENGTH);
      expect(decodeEventLeaf(bytes)).toEqual({ value: leaf });
    }),
    runs(200),
  );
});

test("any 66 bytes are a leaf with the same bytes, or a fault", () => {
  fc.assert(
    fc.property(bytesOfLength(66), fc.nat(3), fc.nat(5), (bytes, kind, state) => {
      bytes[0] = kind;
      bytes[1] = state;
      const decoded = decodeEventLeaf(bytes);
      if ("fault" in decoded)
        expect(decoded.fault).toBe(kind === 1 ? "unknown_state" : "unknown_kind");
      else {
        expect([kind, state < 4]).toEqual([1, true]);
        expect(encodeEventLeaf(decoded.value)).toEqual(bytes);
      }
    }),
    runs(200),
  );
});

test.each([0, 1, 65, 67, 96])("%d bytes are no leaf", (length) => {
  expect(decodeEventLeaf(new Uint8Array(length).fill(1))).toEqual({ fault: "wrong_length" });
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
