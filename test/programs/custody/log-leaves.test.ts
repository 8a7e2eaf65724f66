import { expect, test } from "bun:test";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { leavesOfEscrow, leavesOfTombstone } from "../../../core/log/leaf/escrow-leaves.ts";
import { headOf } from "../../../core/log/leaf/leaf-chain.ts";
import { decodeArchivedEscrowAccount } from "../../../core/protocol/accounts/archived-escrow-account.ts";
import { decodeCustodyConfigAccount } from "../../../core/protocol/accounts/settings-accounts.ts";
import { custodyConfigAddress } from "../../../core/protocol/addresses/addresses.ts";
import * as s from "../fixture/settlement.ts";
import {
  attest,
  attestPartial,
  cancel,
  EXPIRY,
  partial,
  refund,
  release,
} from "../fixture/settlement-attempts.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";

const configOf = (ledger: TestLedger) => {
  const account = ledger.account(custodyConfigAddress(s.deployment).address);
  const decoded = decodeCustodyConfigAccount(account, s.deployment);
  if ("fault" in decoded) throw new Error(decoded.fault);
  return decoded.value;
};

const ENDINGS = [
  ["release", s.START + 7n, [attest, release], s.stranger],
  ["partial release", s.START + 7n, [attestPartial(2n), partial], s.stranger],
  ["refund", EXPIRY, [refund], s.stranger],
  ["cancellation", s.START + 7n, [cancel], s.merchant],
] as const;

test.each(ENDINGS)(
  "the leaves of one account chain to the ledger's head: %s",
  (_, time, instructions, by) => {
    const ledger = s.escrowLedger();
    const headOfAccount = () => {
      const leaves = leavesOfEscrow(s.readEscrow(ledger), ledger.account(s.escrow).data);
      expect(leaves.map(({ seq }) => seq)).toEqual([1n, 2n].slice(0, leaves.length));
      return hash32FromBytes(headOf(leaves.map(({ leaf }) => leaf)));
    };
    expect(configOf(ledger)).toMatchObject({ count: 1n, head: headOfAccount() });
    ledger.time = time;
    ledger.do([...instructions], [by]);
    const settled = headOfAccount();
    expect(configOf(ledger)).toMatchObject({ count: 2n, head: settled });

    ledger.time = time + 604_800n;
    ledger.do([s.archiveInstruction(ledger)], [s.stranger]);
    const tombstone = decodeArchivedEscrowAccount(ledger.account(s.escrow), s.deployment);
    if ("fault" in tombstone) throw new Error(tombstone.fault);
    const leaves = leavesOfTombstone(s.escrow, tombstone.value);
    expect(hash32FromBytes(headOf(leaves.map(({ leaf }) => leaf)))).toBe(settled);
  },
);
