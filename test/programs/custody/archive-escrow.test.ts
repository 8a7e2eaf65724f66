import { describe, expect, test } from "bun:test";
import { Rent } from "litesvm";
import { address } from "../../../core/domain/address.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { AccountRole } from "../../../core/domain/ledger/instruction.ts";
import { sha256 } from "../../../core/domain/sha256.ts";
import { decodeArchivedEscrowAccount } from "../../../core/protocol/accounts/archived-escrow-account.ts";
import { readInstruction } from "../../../core/protocol/instructions/program-call.ts";
import { CUSTODY_ACCOUNTS } from "../../../core/protocol/generated/custody.ts";
import { custodyConfigAddress } from "../../../core/protocol/addresses/addresses.ts";
import { binaryPath } from "../../../programs/compile.ts";
import * as s from "../fixture/settlement.ts";
import {
  ARCHIVABLE,
  archived,
  at,
  attest,
  attestPart,
  cancel,
  capture,
  close,
  EXPIRY,
  refund,
  release,
  settled,
  withByte,
} from "../fixture/settlement-attempts.ts";
import { forgeCopy, withAccount, withData, withRole } from "../fixture/tampering.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";

const tombstoneOf = (ledger: TestLedger) => {
  const decoded = decodeArchivedEscrowAccount(ledger.account(s.escrow), s.deployment);
  if ("fault" in decoded) throw new Error(decoded.fault);
  return decoded.value;
};
const refusal = (ledger: TestLedger, instruction = s.archiveInstruction(ledger)) =>
  ledger.send([instruction], [s.stranger]).refusal;
const archivable = (): TestLedger => at(ARCHIVABLE, settled());

/** Every ending, with its time and sender. */
const ENDINGS = [
  ["Fulfilled", s.START, [attest, release], s.stranger],
  ["PartiallyFulfilled", s.START, [attestPart(2n), release], s.stranger],
  ["Refunded", EXPIRY, [refund], s.stranger],
  ["Refunded", s.START, [cancel], s.merchant],
] as const;

describe.each(ENDINGS)("an escrow that ended %s at %d", (state, time, instructions, by) => {
  test("becomes a tombstone with the hashes of its first and last bytes", () => {
    const ledger = s.escrowLedger();
    const first = ledger.account(s.escrow).data;
    ledger.time = time;
    ledger.do([...instructions], [by]);
    const last = ledger.account(s.escrow).data;
    ledger.time = time + 604_800n;
    ledger.do([s.archiveInstruction(ledger)], [s.stranger]);
    expect(ledger.account(s.escrow)).toMatchObject({
      owner: s.deployment.custodyProgram,
      lamports: ledger.rentExempt(96),
    });
    expect(ledger.account(s.escrow).data.length).toBe(96);
    expect(tombstoneOf(ledger)).toEqual({
      state,
      createdSeq: 1n,
      settledSeq: 2n,
      pendingHash: hash32FromBytes(sha256(first)),
      lastHash: hash32FromBytes(sha256(last)),
    });
  });
});

test("the rent payer gets what exceeds a tombstone's rent, the closed vault's included, whoever archives", () => {
  const ledger = archivable();
  const lamports = () => ledger.account(s.agent.address).lamports;
  const before = lamports();
  ledger.do([s.archiveInstruction(ledger)], [s.stranger]);
  const freed = ledger.rentExempt(416) - ledger.rentExempt(96);
  expect(freed).toBe(2_227_200n);
  expect(lamports() - before).toBe(freed + ledger.rentExempt(165));
});

test("further lamports sent to the escrow go to the rent payer too", () => {
  const ledger = archivable();
  const account = ledger.account(s.escrow);
  ledger.set({ ...account, lamports: account.lamports + 7n });
  const before = ledger.account(s.agent.address).lamports;
  ledger.do([s.archiveInstruction(ledger)], [s.stranger]);
  expect(ledger.account(s.agent.address).lamports - before).toBe(
    ledger.rentExempt(416) - ledger.rentExempt(96) + ledger.rentExempt(165) + 7n,
  );
});

test("a rent payer that has become a program gets nothing, and the escrow is still archived", async () => {
  const ledger = archivable();
  const elf = await Bun.file(binaryPath("attestor", "v0")).bytes();
  const owner = address("BPFLoader2111111111111111111111111111111111");
  const program = {
    address: s.agent.address,
    owner,
    lamports: 10n ** 10n,
    data: elf,
    executable: true,
  };
  ledger.set(program);
  const { lamports } = ledger.account(s.escrow);
  ledger.do([s.archiveInstruction(ledger)], [s.stranger]);
  expect(tombstoneOf(ledger).state).toBe("Fulfilled");
  expect(ledger.account(s.escrow).lamports).toBe(lamports);
  expect(ledger.account(s.agent.address).lamports).toBe(program.lamports);
});

test("when the rent has risen so far that nothing is left over, no lamports move", () => {
  const ledger = archivable();
  const { lamports } = ledger.account(s.escrow);
  const before = ledger.account(s.agent.address).lamports;
  ledger.svm.setRent(new Rent(4n * 6960n, 1, 50));
  ledger.do([s.archiveInstruction(ledger)], [s.stranger]);
  expect(ledger.account(s.escrow).lamports).toBe(lamports);
  expect(ledger.account(s.agent.address).lamports).toBe(before);
});

test("the ledger's history holds the last bytes whole", () => {
  const ledger = archivable();
  const last = ledger.account(s.escrow).data;
  const call = readInstruction(s.archiveInstruction(ledger), s.deployment);
  expect(call).toMatchObject({ name: "archive_escrow", args: { lastBytes: last } });
});

test("archiving is not a numbered event: count and head do not change", () => {
  const ledger = archivable();
  const config = custodyConfigAddress(s.deployment).address;
  const before = ledger.account(config).data;
  ledger.do([s.archiveInstruction(ledger)], [s.stranger]);
  expect(ledger.account(config).data).toEqual(before);
});

describe("is refused", () => {
  test("while the escrow is Pending, however old", () => {
    const ledger = at(EXPIRY + 10_000_000n);
    expect(refusal(ledger)).toBe("6033 NotSettled");
  });

  test("until seven days after the settlement, to the second", () => {
    const ledger = archivable();
    ledger.time = ARCHIVABLE - 1n;
    expect(refusal(ledger)).toBe("6034 NotArchivable");
    ledger.time = ARCHIVABLE;
    expect(refusal(ledger)).toBeUndefined();
  });

  test("with bytes that differ in one place, or in length", () => {
    const ledger = archivable();
    const right = s.archiveInstruction(ledger);
    for (let i = 0; i < CUSTODY_ACCOUNTS.Escrow.length; i++)
      expect(refusal(ledger, withByte(right, 8 + i, (right.data[8 + i] ?? 0) ^ 1))).toBe(
        "6035 WrongLastBytes",
      );
    for (const data of [right.data.slice(0, -1), Uint8Array.of(...right.data, 0)])
      expect(refusal(ledger, withData(right, data))).toBe("6000 InvalidInstruction");
    expect(refusal(ledger, right)).toBeUndefined();
  });

  test("for another rent payer than the recorded one", () => {
    const ledger = archivable();
    const toStranger = s.archiveInstruction(ledger, { rentPayer: s.stranger.address });
    expect(refusal(ledger, toStranger)).toBe("6023 WrongRentPayer");
    const toEscrow = s.archiveInstruction(ledger, { rentPayer: s.escrow });
    expect(refusal(ledger, toEscrow)).toBe("6023 WrongRentPayer");
  });

  test("a second time, also in one transaction", () => {
    const ledger = archivable();
    const archive = s.archiveInstruction(ledger);
    expect(ledger.send([archive, archive], [s.stranger]).refusal).toBe("6036 EscrowArchived");
    ledger.do([archive], [s.stranger]);
    expect(refusal(ledger, archive)).toBe("6036 EscrowArchived");
  });

  test("for accounts that are not an escrow of custody", () => {
    const ledger = archivable();
    const archive = s.archiveInstruction(ledger);
    const copy = forgeCopy(ledger, s.escrow);
    expect(refusal(ledger, withAccount(archive, "escrow", copy))).toBe("6019 WrongEscrow");
    const owner = s.deployment.attestorProgram;
    const foreign = forgeCopy(ledger, s.escrow, { owner });
    expect(refusal(ledger, withAccount(archive, "escrow", foreign))).toBe("6019 WrongEscrow");
    const config = custodyConfigAddress(s.deployment).address;
    expect(refusal(ledger, withAccount(archive, "escrow", config))).toBe("6019 WrongEscrow");
  });

  test("when the escrow or the rent payer is read-only", () => {
    const ledger = archivable();
    for (const name of ["escrow", "rent_payer"]) {
      const fixed = withRole(s.archiveInstruction(ledger), name, AccountRole.readonly);
      expect(refusal(ledger, fixed)).toBe("6003 AccountNotWritable");
    }
  });
});

describe("a tombstone", () => {
  test("keeps its address used, so that the same task cannot be escrowed again", () => {
    const ledger = archived();
    expect(ledger.send([s.createInstruction()], [s.agent]).refusal).toBe("6020 EscrowExists");
  });

  test("is refused by every instruction that settles", () => {
    const ledger = archived();
    for (const [instructions, by] of [
      [[attest, release], s.stranger],
      [[attest, capture], s.stranger],
      [[close], s.agent],
      [[cancel], s.merchant],
    ] as const)
      expect(ledger.send([...instructions], [by]).refusal).toBe("6036 EscrowArchived");
  });

  test("is not an escrow, also with another length, discriminator or owner", () => {
    const ledger = archived();
    const { owner, data } = ledger.account(s.escrow);
    const decode = (change: Parameters<typeof decodeArchivedEscrowAccount>[0]) =>
      decodeArchivedEscrowAccount(change, s.deployment);
    const stranger = s.deployment.attestorProgram;
    expect(decode({ owner: stranger, data })).toEqual({ fault: "wrong_owner" });
    expect(decode({ owner, data: data.slice(1) })).toEqual({ fault: "wrong_length" });
    // Accounts that anyone can assign to custody hold only zero bytes.
    expect(decode({ owner, data: new Uint8Array(96) })).toEqual({ fault: "wrong_discriminator" });
    expect(decode({ owner, data: data.with(25, 1) })).toEqual({ fault: "unknown_version" });
    expect(decode({ owner, data: data.with(24, 4) })).toEqual({ fault: "unknown_enum_value" });
    expect(decode({ owner, data: data.with(24, 0) })).toEqual({ fault: "fields_contradict_state" });
    expect(decode({ owner, data: data.with(16, 1) })).toEqual({ fault: "fields_contradict_state" });
    for (let i = 26; i < 32; i++)
      expect(decode({ owner, data: data.with(i, 1) })).toEqual({ fault: "reserved_bytes_set" });
  });
});
