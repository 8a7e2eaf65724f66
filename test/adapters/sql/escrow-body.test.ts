import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  decodeBody,
  digestsIn,
  encodeBody,
  encodedAddress,
} from "../../../adapters/sql/escrow-body.ts";
import { addressToBytes } from "../../../core/domain/address.ts";
import { indexedEscrowOf } from "../../../core/log/leaf/escrow-rows.ts";
import {
  encodeEscrowAccount,
  escrowIn,
  pendingEscrowBytes,
} from "../../../core/protocol/accounts/escrow-account.ts";
import { anyEscrow } from "../../arbitraries/escrow.ts";
import { indexedOf } from "../../arbitraries/index-history.ts";
import { runs } from "../../arbitraries/runs.ts";
import { TEST_DEPLOYMENT } from "../../arbitraries/test-ledger.ts";

test("a body is an escrow's account, its address and its digests, and says the same escrow", () => {
  fc.assert(
    fc.property(anyEscrow(TEST_DEPLOYMENT), (escrow) => {
      const shown = encodeEscrowAccount(escrow);
      const row = indexedEscrowOf(escrow, shown);
      // What a session captured while Pending is no part of its row.
      const account = escrow.state === "Pending" ? pendingEscrowBytes(shown) : shown;
      const kept = escrowIn(escrow.address, account);
      const { pendingHash, settledHash } = indexedOf(escrow);
      const body = Uint8Array.from(encodeBody(row));
      const parts = [account, addressToBytes(escrow.address), pendingHash];
      expect(body).toEqual(
        Uint8Array.from(Buffer.concat([...parts, ...(settledHash === null ? [] : [settledHash])])),
      );
      expect(encodedAddress).toEqual(addressToBytes(escrow.address));
      expect(decodeBody(body)).toEqual(kept);
      expect(row.escrow).toEqual(kept);
      expect(digestsIn(body)).toEqual({ pendingHash, settledHash });
    }),
    runs(300),
  );
});
