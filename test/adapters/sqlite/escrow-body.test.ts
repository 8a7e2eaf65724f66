import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  decodeBody,
  digestsIn,
  encodeBody,
  encodedAddress,
} from "../../../adapters/sqlite/index/escrow-body.ts";
import { addressToBytes } from "../../../core/domain/address.ts";
import { ESCROW_STATES } from "../../../core/domain/escrow/escrow.ts";
import type { IndexedEscrow } from "../../../core/domain/index/indexed-escrow.ts";
import { indexedEscrowOf } from "../../../core/log/leaf/escrow-rows.ts";
import { encodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import { anyEscrow } from "../../arbitraries/escrow.ts";
import { indexedOf } from "../../arbitraries/index-history.ts";
import { runs } from "../../arbitraries/runs.ts";
import { TEST_DEPLOYMENT } from "../../arbitraries/test-ledger.ts";

const number = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
};

/** The body that stores hold of an escrow, from its texts and numbers. */
const bodyOf = ({ escrow, pendingHash, settledHash }: IndexedEscrow): Buffer => {
  const { attestation, settledSeq, settledAt } = escrow;
  const { agentOwner, merchant, mint, rentPayer, attestor, amount, createdAt, expiresAt } = escrow;
  const parties = [escrow.address, agentOwner, merchant, mint, rentPayer, attestor];
  const settled =
    settledHash === null || settledSeq === null || settledAt === null
      ? []
      : [settledHash, ...[settledSeq, escrow.released, settledAt].map(number)];
  const attested =
    attestation === null
      ? []
      : [
          Buffer.from(attestation.proofHash, "hex"),
          number(attestation.attestedAt),
          Buffer.from(attestation.signature, "base64"),
        ];
  return Buffer.concat([
    ...parties.map(addressToBytes),
    Buffer.from(escrow.taskHash, "hex"),
    pendingHash,
    ...[escrow.createdSeq, amount, createdAt, expiresAt].map(number),
    Uint8Array.of(ESCROW_STATES.indexOf(escrow.state), escrow.bump, escrow.vaultBump),
    ...settled,
    ...attested,
  ]);
};

test("a body is cut from an escrow's account as its texts and numbers make it, and says the same escrow", () => {
  fc.assert(
    fc.property(anyEscrow(TEST_DEPLOYMENT), (escrow) => {
      const row = indexedEscrowOf(escrow, encodeEscrowAccount(escrow));
      const expected = indexedOf(escrow);
      const body = Uint8Array.from(encodeBody(row));
      expect(body.toHex()).toBe(bodyOf(expected).toString("hex"));
      expect(encodedAddress).toEqual(addressToBytes(escrow.address));
      expect(decodeBody(body)).toEqual(escrow);
      expect(row.escrow).toEqual(escrow);
      const { pendingHash, settledHash } = expected;
      expect(digestsIn(body)).toEqual({ pendingHash, settledHash });
    }),
    runs(300),
  );
});
