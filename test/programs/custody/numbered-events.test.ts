import { describe, expect, test } from "bun:test";
import type { Address } from "../../../core/domain/address.ts";
import { addressToBytes } from "../../../core/domain/address.ts";
import { ESCROW_STATES } from "../../../core/domain/escrow/escrow.ts";
import { hash32FromBytes, hash32ToBytes } from "../../../core/domain/hash32.ts";
import { sha256 } from "../../../core/domain/sha256.ts";
import { rootOf } from "../../../core/log/tree/frontier.ts";
import { decodeCustodyConfigAccount } from "../../../core/protocol/accounts/settings-accounts.ts";
import {
  encodeEscrowAccount,
  pendingEscrowBytes,
} from "../../../core/protocol/accounts/escrow-account.ts";
import { custodyConfigAddress, escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { referenceRoot } from "../../core/log/support/reference-tree.ts";
import * as s from "../fixture/settlement.ts";
import {
  attest,
  attestPart,
  cancel,
  captured,
  close,
  EXPIRY,
  refund,
  release,
  released,
} from "../fixture/settlement-attempts.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";

const configOf = (ledger: TestLedger) => {
  const account = ledger.account(custodyConfigAddress(s.deployment).address);
  const decoded = decodeCustodyConfigAccount(account, s.deployment);
  if ("fault" in decoded) throw new Error(decoded.fault);
  return decoded.value;
};

/** The leaf of an event, from the account's bytes after it: docs/protocol.md, "Numbered events". */
const leafOf = (escrow: Address, data: Uint8Array): Uint8Array => {
  const leaf = Uint8Array.of(1, data[10] ?? 0xff, ...addressToBytes(escrow), ...sha256(data));
  expect(leaf.length).toBe(66);
  return leaf;
};

/** Expects a log of leaf 0 and these leaves. */
const expectLogged = (ledger: TestLedger, ...leaves: ReadonlyArray<Uint8Array>): void => {
  const { count, domain, frontier } = configOf(ledger);
  expect(count).toBe(BigInt(leaves.length));
  const all = [Uint8Array.of(0, ...hash32ToBytes(domain)), ...leaves];
  expect(rootOf({ count, frontier })).toBe(hash32FromBytes(referenceRoot(all)));
};

test("a new deployment has no numbered events", () => {
  const ledger = s.initializedLedger();
  expect(configOf(ledger).attestorProgram).toBe(s.deployment.attestorProgram);
  expectLogged(ledger);
});

const ENDINGS = [
  ["a release", s.START + 7n, [attest, release], s.stranger, "Fulfilled"],
  ["a partial release", s.START + 7n, [attestPart(2n), release], s.stranger, "PartiallyFulfilled"],
  ["a refund", EXPIRY, [refund], s.stranger, "Refunded"],
  ["a cancellation", s.START + 7n, [cancel], s.merchant, "Refunded"],
] as const;

test("captures and closings have no number: neither count nor frontier changes", () => {
  const ledger = s.sessionLedger();
  const created = leafOf(s.escrow, ledger.account(s.escrow).data);
  ledger.do(captured(2n, 1), [s.stranger]);
  ledger.do(captured(3n, 2), [s.stranger]);
  ledger.do([close], [s.agent]);
  expectLogged(ledger, created);
  ledger.do(released(4n, 3), [s.stranger]);
  expectLogged(ledger, created, leafOf(s.escrow, ledger.account(s.escrow).data));
});

describe.each(ENDINGS)("creation and %s", (_, time, instructions, by, state) => {
  test("get the numbers 1 and 2, and log the account's bytes after each of them", () => {
    const ledger = s.escrowLedger();
    const first = ledger.account(s.escrow).data;
    const created = leafOf(s.escrow, first);
    expectLogged(ledger, created);
    expect(s.readEscrow(ledger)).toMatchObject({ createdSeq: 1n, settledSeq: null });

    ledger.time = time;
    ledger.do([...instructions], [by]);
    const last = ledger.account(s.escrow).data;
    expectLogged(ledger, created, leafOf(s.escrow, last));
    const escrow = s.readEscrow(ledger);
    expect(escrow).toMatchObject({ state, createdSeq: 1n, settledSeq: 2n });
    expect(encodeEscrowAccount(escrow)).toEqual(last);
  });

  test("settlement writes only fields whose zeroing restores the Pending bytes", () => {
    const ledger = s.escrowLedger();
    const first = ledger.account(s.escrow).data;
    ledger.time = time;
    ledger.do([...instructions], [by]);
    const last = ledger.account(s.escrow).data;
    expect(last).not.toEqual(first);
    expect(pendingEscrowBytes(last)).toEqual(first);
    expect(pendingEscrowBytes(first)).toEqual(first);
  });
});

test("one transaction's events are numbered one after another, and a failed transaction uses no number", () => {
  const ledger = s.merchantLedger();
  const tasks = [0x31, 0x32, 0x33].map(s.hashOf);
  const escrows = tasks.map((task) => escrowAddress(s.deployment, s.agent.address, task).address);
  ledger.do(
    tasks.map((taskHash) => s.createInstruction({ taskHash })),
    [s.agent],
  );
  expect(escrows.map((each) => s.readEscrow(ledger, each).createdSeq)).toEqual([1n, 2n, 3n]);
  const before = configOf(ledger);
  const again = tasks.map((taskHash) => s.createInstruction({ taskHash }));
  expect(ledger.send([s.createInstruction(), ...again], [s.agent]).refusal).toBe(
    "6020 EscrowExists",
  );
  expect(configOf(ledger)).toEqual(before);

  const [one, , three] = escrows as [Address, Address, Address];
  ledger.do(
    [
      s.attestOn(ledger, { escrow: three }),
      s.attestOn(ledger, { escrow: one }),
      s.releaseInstruction({ escrow: three }),
      s.releaseInstruction({ escrow: one }),
    ],
    [s.stranger],
  );
  expect(s.readEscrow(ledger, three).settledSeq).toBe(4n);
  expect(s.readEscrow(ledger, one).settledSeq).toBe(5n);

  const dataOf = (each: Address) => ledger.account(each).data;
  expectLogged(
    ledger,
    ...escrows.map((each) => leafOf(each, pendingEscrowBytes(dataOf(each)))),
    ...[three, one].map((each) => leafOf(each, dataOf(each))),
  );
});

test("the leaf's state byte is the account's", () => {
  const ledger = s.escrowLedger();
  ledger.do([attest, release], [s.stranger]);
  expect(ledger.account(s.escrow).data[10]).toBe(ESCROW_STATES.indexOf("Fulfilled"));
});
