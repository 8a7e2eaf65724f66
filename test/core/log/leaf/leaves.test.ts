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
import { ESCROW_STATES } from "../../../../core/domain/escrow/escrow.ts";
import { anyAddress, anyHash32, bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { firstHead, headAfter, headOf, LeafChain } from "../../../../core/log/leaf/leaf-chain.ts";
import { address } from "../../../../core/domain/address.ts";

const settled = anyEscrow(LOCAL_DEPLOYMENT, ["Fulfilled", "Refunded", "PartiallyFulfilled"]);

test("a Pending escrow has the one leaf of its creation", () => {
  fc.assert(
    fc.property(anyEscrow(LOCAL_DEPLOYMENT, ["Pending"]), (escrow) => {
      const data = encodeEscrowAccount(escrow);
      const leaves = leavesOfEscrow(escrow, data);
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
      const pending = {
        ...escrow,
        state: "Pending" as const,
        released: 0n,
        settledAt: null,
        attestation: null,
        settledSeq: null,
      };
      const data = encodeEscrowAccount(escrow);
      const [created, last] = leavesOfEscrow(escrow, data);
      expect(leavesOfEscrow(pending, encodeEscrowAccount(pending))).toEqual(
        created === undefined ? [] : [created],
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

const leaves = fc.array(bytesOfLength(EVENT_LEAF_LENGTH), { maxLength: 20 });

test("leaves that come once or more often make the chain over all of them", () => {
  fc.assert(
    fc.property(leaves, fc.array(fc.nat({ max: 19 })), (all, again) => {
      const chain = new LeafChain(0n, firstHead());
      for (const [at, leaf] of all.entries())
        for (let times = again.includes(at) ? 2 : 1; times > 0; times--)
          chain.add(BigInt(at + 1), leaf.slice());
      expect(chain.missingTo(BigInt(all.length))).toBe(0n);
      expect(chain.contradicted).toBeNull();
      expect(chain.head).toBe(hash32FromBytes(headOf(all)));
    }),
    runs(100),
  );
});

test("missing numbers are counted, and the first ten are named", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 40 })), (held) => {
      const chain = new LeafChain(0n, firstHead());
      for (const seq of held.toSorted((a, b) => a - b))
        chain.add(BigInt(seq), new Uint8Array(EVENT_LEAF_LENGTH));
      const missing = Array.from({ length: 40 }, (_, at) => BigInt(at + 1)).filter(
        (seq) => !held.includes(Number(seq)),
      );
      expect(chain.missingTo(40n)).toBe(BigInt(missing.length));
      expect(chain.missing).toEqual(missing.slice(0, 10));
    }),
    runs(100),
  );
});

test("a number that comes with another leaf is the contradicted one, the first of them", () => {
  const chain = new LeafChain(4n, firstHead());
  const leaf = (fill: number) => new Uint8Array(EVENT_LEAF_LENGTH).fill(fill);
  chain.add(5n, leaf(1));
  chain.add(5n, leaf(2));
  chain.add(6n, leaf(1));
  chain.add(6n, leaf(3));
  expect(chain.contradicted).toBe(5n);
  expect(chain.missingTo(6n)).toBe(0n);
});

test("each head is the hash of the one before and the leaf, from 32 zero bytes on", () => {
  fc.assert(
    fc.property(fc.array(bytesOfLength(66), { maxLength: 5 }), (leaves) => {
      let expected: Uint8Array = new Uint8Array(32);
      for (const leaf of leaves)
        expected = new Bun.CryptoHasher("sha256").update(expected).update(leaf).digest();
      expect(headOf(leaves)).toEqual(Uint8Array.from(expected));
    }),
    runs(50),
  );
});

test("a chain goes on from any head", () => {
  fc.assert(
    fc.property(
      fc.array(bytesOfLength(66), { minLength: 1, maxLength: 6 }),
      fc.nat(6),
      (leaves, cut) => {
        const middle = headOf(leaves.slice(0, cut));
        expect(headOf(leaves.slice(cut), middle)).toEqual(headOf(leaves));
      },
    ),
    runs(50),
  );
});

test("a link of other lengths is refused, and a first head is nobody else's", () => {
  expect(() => headAfter(firstHead(), new Uint8Array(65))).toThrow(RangeError);
  expect(() => headAfter(new Uint8Array(31), new Uint8Array(66))).toThrow(RangeError);
  firstHead().fill(1);
  expect(firstHead()).toEqual(new Uint8Array(32));
});

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
