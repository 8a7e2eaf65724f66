import { expect, test } from "bun:test";
import fc from "fast-check";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { sha256 } from "../../../../core/domain/sha256.ts";
import { decodeEventLeaf } from "../../../../core/log/leaf/event-leaf.ts";
import { leavesOfEscrow, leavesOfTombstone } from "../../../../core/log/leaf/escrow-leaves.ts";
import { decodeArchivedEscrowAccount } from "../../../../core/protocol/accounts/archived-escrow-account.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { tombstoneAccount } from "../../../doubles/tombstone.ts";

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
