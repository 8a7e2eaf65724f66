import { rootOf } from "../../../../core/log/tree/frontier.ts";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { endOf, type Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { TrustPolicy } from "../../../../core/domain/evidence/evidence-check.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { NO_PINS } from "../../../../core/domain/ledger/deployment.ts";
import type { Merchant } from "../../../../core/domain/merchant/merchant.ts";
import {
  deployedProgramAccounts,
  programHash,
} from "../../../../core/protocol/accounts/loader-v3.ts";
import { verifyEvidence } from "../../../../core/protocol/verification/verify-evidence.ts";
import type { LedgerWitness } from "../../../../core/protocol/verification/verify-on-ledger.ts";
import { SYSTEM_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { anyAttestedEscrow, NETWORK, packetText, TRUST } from "../../../arbitraries/evidence.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { loggedEscrow, packetWithLog } from "../../../conformance/evidence/logged-packets.ts";
import { logPolicyText, logProofOf } from "../../../conformance/evidence/log-world.ts";
import { tombstoneAccount } from "../../../doubles/tombstone.ts";
import { settled } from "../../../doubles/escrow-steps.ts";
import { pendingOf } from "../../../simulation/world-escrow.ts";
import {
  ATTESTOR,
  configOf,
  escrowAccount,
  held,
  merchantAccount,
  OTHER_KEY,
  witnessOf,
} from "./node-shows.ts";

const outcomes = (escrow: Escrow, witness: LedgerWitness) => {
  const { verdict, checks } = verifyEvidence(packetText(escrow), TRUST, witness);
  const outcomeOf = (name: string) => checks.find((each) => each.name === name)?.outcome;
  return {
    verdict,
    ledger: outcomeOf("ledger"),
    account: outcomeOf("account_on_ledger"),
    attestor: outcomeOf("attestor_is_the_merchants"),
  };
};

const settledBy = anyAttestedEscrow.filter(({ attestation }) => attestation !== null);
const pending = anyAttestedEscrow.filter(({ state }) => state === "Pending");

describe("a packet checked with a node", () => {
  test("what the ledger holds passes, and nothing is left unproven", () => {
    fc.assert(
      fc.property(anyAttestedEscrow, (escrow) => {
        expect(outcomes(escrow, witnessOf(escrow))).toEqual({
          verdict: "verified",
          ledger: "passed",
          account: "passed",
          attestor: escrow.attestation === null ? "not_applicable" : "passed",
        });
      }),
      runs(30),
    );
  });

  test("a missing account, another escrow's account and an account with other bytes fail", () => {
    fc.assert(
      fc.property(anyAttestedEscrow, fc.nat({ max: 367 }), (escrow, at) => {
        const witness = witnessOf(escrow);
        const account = escrowAccount(escrow);
        const changed = { ...account, data: account.data.with(at, (account.data[at] ?? 0) ^ 1) };
        const failing = { verdict: "failed", account: "failed" };
        expect(outcomes(escrow, { ...witness, escrow: null })).toMatchObject(failing);
        const stolen = { ...account, owner: SYSTEM_PROGRAM };
        expect(outcomes(escrow, { ...witness, escrow: stolen })).toMatchObject(failing);
        fc.pre(escrow.state !== "Pending");
        expect(outcomes(escrow, { ...witness, escrow: changed })).toMatchObject(failing);
      }),
      runs(30),
    );
  });

  test("a pending escrow may have been settled since, on the same terms only", () => {
    fc.assert(
      fc.property(pending, (escrow) => {
        const refunded = settled(escrow, "refund", endOf(escrow));
        const seen = (now: Escrow) =>
          outcomes(escrow, { ...witnessOf(escrow), escrow: escrowAccount(now) }).account;
        expect(seen(refunded)).toBe("passed");
        expect(seen({ ...refunded, amount: escrow.amount ^ 1n || 2n })).toBe("failed");
        expect(seen({ ...refunded, merchant: OTHER_KEY })).toBe("failed");
        expect(seen({ ...refunded, mint: OTHER_KEY })).toBe("failed");
        expect(seen({ ...refunded, attestor: OTHER_KEY })).toBe("failed");
        expect(seen({ ...refunded, rentPayer: OTHER_KEY })).toBe("failed");
        if (escrow.sessionKey !== null)
          expect(seen({ ...refunded, sessionKey: OTHER_KEY })).toBe("failed");
      }),
      runs(20),
    );
  });

  test("another ledger fails, and its accounts are not read", () => {
    fc.assert(
      fc.property(anyAttestedEscrow, (escrow) => {
        const witness = { ...witnessOf(escrow), genesisHash: "another" };
        expect(outcomes(escrow, witness)).toEqual({
          verdict: "failed",
          ledger: "failed",
          account: "not_applicable",
          attestor: "not_applicable",
        });
      }),
      runs(5),
    );
  });
});

describe("a packet of an escrow that was archived", () => {
  const archived = (packet: Escrow, gone: Escrow, owner = NETWORK.custodyProgram) =>
    outcomes(packet, { ...witnessOf(packet), escrow: tombstoneAccount(gone, owner) });
  const anySettled = anyAttestedEscrow.filter(({ state }) => state !== "Pending");
  const passes = { verdict: "verified", account: "passed" };
  const fails = { verdict: "failed", account: "failed" };

  test("is checked against the tombstone's digest, settled or still Pending", () => {
    fc.assert(
      fc.property(anySettled, (escrow) => {
        expect(archived(escrow, escrow)).toMatchObject(passes);
        expect(archived(pendingOf(escrow), escrow)).toMatchObject(passes);
        const text = packetText(escrow);
        const witness = {
          ...witnessOf(escrow),
          escrow: tombstoneAccount(escrow, NETWORK.custodyProgram),
        };
        const check = verifyEvidence(text, TRUST, witness).checks.find(
          ({ name }) => name === "account_on_ledger",
        );
        expect(check?.reason).toBe(
          "the escrow was archived, and the ledger keeps the digest of the packet's account bytes",
        );
      }),
      runs(20),
    );
  });

  test("fails on other bytes, and on a tombstone that custody does not own", () => {
    fc.assert(
      fc.property(anySettled, (escrow) => {
        expect(archived(escrow, { ...escrow, rentPayer: OTHER_KEY })).toMatchObject(fails);
        expect(archived(escrow, escrow, SYSTEM_PROGRAM)).toMatchObject(fails);
        expect(archived(pendingOf(escrow), { ...escrow, rentPayer: OTHER_KEY })).toMatchObject(
          fails,
        );
      }),
      runs(20),
    );
  });
});

// The ledger recorded the key when the escrow was made: later signatures and settlements do not show on which side of a
// rotation the escrow was made.
describe("the attestor's key around a rotation", () => {
  const attestor = (escrow: Escrow, merchant: Partial<Merchant>) =>
    outcomes(escrow, witnessOf(escrow, merchant)).attestor;

  test("the present key counts from the second of its rotation, whenever the escrow was settled", () => {
    fc.assert(
      fc.property(settledBy, (escrow) => {
        const { createdAt } = escrow;
        const named = { previousAttestor: OTHER_KEY };
        expect(attestor(escrow, { ...named, attestorSince: createdAt })).toBe("passed");
        expect(attestor(escrow, { ...named, attestorSince: createdAt + 1n })).toBe("unproven");
      }),
      runs(20),
    );
  });

  test("the former key counts up to the second of its replacement", () => {
    fc.assert(
      fc.property(settledBy, (escrow) => {
        const { createdAt } = escrow;
        const replaced = { attestor: OTHER_KEY, previousAttestor: ATTESTOR };
        expect(attestor(escrow, { ...replaced, attestorSince: createdAt })).toBe("passed");
        expect(attestor(escrow, { ...replaced, attestorSince: createdAt - 1n })).toBe("unproven");
      }),
      runs(20),
    );
  });

  test("a key that the record does not name is unproven, a missing merchant fails", () => {
    fc.assert(
      fc.property(settledBy, (escrow) => {
        expect(attestor(escrow, { attestor: OTHER_KEY })).toBe("unproven");
        const witness = witnessOf(escrow);
        const failing = { verdict: "failed", attestor: "failed" };
        expect(outcomes(escrow, { ...witness, merchant: null })).toMatchObject(failing);
        const junk = held(escrow.merchant, NETWORK.attestorProgram, new Uint8Array(208));
        expect(outcomes(escrow, { ...witness, merchant: junk })).toMatchObject(failing);
        const other = merchantAccount({ ...escrow, merchant: OTHER_KEY }, {});
        expect(outcomes(escrow, { ...witness, merchant: other })).toMatchObject(failing);
      }),
      runs(10),
    );
  });
});

describe("a logged packet checked with a node", () => {
  const policy = { ...TRUST, logOnLedger: logPolicyText() };
  const outcomeOf = (name: string, escrow: Escrow, witness: LedgerWitness) =>
    verifyEvidence(packetWithLog(escrow, logProofOf(escrow)), policy, witness).checks.find(
      (each) => each.name === name,
    );
  const numbered = (escrow: Escrow, count: bigint): LedgerWitness => ({
    ...witnessOf(escrow),
    custodyConfig: configOf(count),
  });

  /** That of a log whose perfect subtrees are all 32 bytes of 0x5a. */
  const rootAfter = (count: bigint) => rootOf({ count, frontier: new Uint8Array(1280).fill(0x5a) });

  test("the event's number is one that the ledger has given", () => {
    for (const name of ["fulfilled", "pending"]) {
      const escrow = loggedEscrow(name);
      const number = escrow.settledSeq ?? escrow.createdSeq;
      const seen = (count: bigint) => outcomeOf("event_number", escrow, numbered(escrow, count));
      expect(seen(number)).toMatchObject({
        outcome: "passed",
        reason: `the packet's event has the number ${number}, and the ledger counts ${number} events with the root ${rootAfter(number)}`,
      });
      expect(seen(number - 1n)?.outcome).toBe("failed");
      const unconfigured = { ...witnessOf(escrow), custodyConfig: null };
      expect(outcomeOf("event_number", escrow, unconfigured)?.outcome).toBe("failed");
      const foreign = { ...witnessOf(escrow), custodyConfig: merchantAccount(escrow, {}) };
      expect(outcomeOf("event_number", escrow, foreign)?.outcome).toBe("failed");
    }
  });

  test("the node outweighs the witnesses, and shows whether the escrow still is Pending", () => {
    const escrow = loggedEscrow("pending");
    const gone = {
      ...loggedEscrow("fulfilled"),
      address: escrow.address,
      taskHash: escrow.taskHash,
    };
    const same = witnessOf(escrow);
    expect(outcomeOf("account_on_ledger", escrow, same)?.outcome).toBe("passed");
    expect(outcomeOf("still_pending", escrow, same)?.outcome).toBe("passed");
    expect(outcomeOf("still_pending", gone, witnessOf(gone))?.outcome).toBe("not_applicable");
    const archived = { ...same, escrow: tombstoneAccount(gone, NETWORK.custodyProgram) };
    expect(outcomeOf("still_pending", escrow, archived)?.outcome).toBe("not_applicable");
    const missing = { ...same, escrow: null };
    expect(outcomeOf("account_on_ledger", escrow, missing)?.outcome).toBe("failed");
  });

  test("where the merchant's record does not reach back to the key, the witnesses do", () => {
    const escrow = loggedEscrow("fulfilled");
    const rotated = witnessOf(escrow, { attestor: OTHER_KEY });
    expect(outcomeOf("attestor_is_the_merchants", escrow, rotated)?.outcome).toBe("witnessed");
    expect(outcomes(escrow, rotated).attestor).toBe("unproven");
  });
});

describe("a policy that pins its programs", () => {
  const elf = Uint8Array.of(1, 2, 3);
  const roomy = Uint8Array.of(...elf, 0, 0);
  const there = programHash(elf);
  const other = programHash(Uint8Array.of(4));
  const dataOf = (program: Escrow["address"], bytes: Uint8Array): LedgerAccount =>
    deployedProgramAccounts(program, { slot: 1n, upgradeAuthority: null, elf: bytes }, () => 1n)[0];
  const programs = {
    custody: dataOf(NETWORK.custodyProgram, roomy),
    attestor: dataOf(NETWORK.attestorProgram, roomy),
  };
  const [escrow] = fc.sample(settledBy, { numRuns: 1, seed: 5 });
  if (escrow === undefined) throw new Error("no sample");
  const judged = (programPins: TrustPolicy["programPins"], witness?: Partial<LedgerWitness>) => {
    const asked = witness && { ...witnessOf(escrow), ...witness };
    const { verdict, checks } = verifyEvidence(
      packetText(escrow),
      { ...TRUST, programPins },
      asked,
    );
    return [verdict, checks.find(({ name }) => name === "program_bytes")?.outcome];
  };
  const both = { custody: [there], attestor: [other, there] };

  test("passes while a node shows a hash of each list", () => {
    expect(judged(both, { programs })).toEqual(["verified", "passed"]);
    expect(judged({ custody: [], attestor: [there] }, { programs })).toEqual([
      "verified",
      "passed",
    ]);
  });

  test("fails for another program, and for one that is not there", () => {
    expect(judged({ ...both, custody: [other] }, { programs })).toEqual(["failed", "failed"]);
    expect(judged({ ...both, attestor: [other] }, { programs })).toEqual(["failed", "failed"]);
    expect(judged(both, { programs: { ...programs, custody: null } })).toEqual([
      "failed",
      "failed",
    ]);
  });

  test("is unproven without a node, or without its programs, and not judged without pins", () => {
    expect(judged(both)).toEqual(["verified", "unproven"]);
    expect(judged(both, {})).toEqual(["verified", "unproven"]);
    expect(judged(NO_PINS, { programs })).toEqual(["verified", "not_applicable"]);
    expect(judged(NO_PINS)).toEqual(["verified", "not_applicable"]);
  });
});
