import type { Address } from "../../core/domain/address.ts";
import { hash32FromBytes } from "../../core/domain/hash32.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import { escrowAddress } from "../../core/protocol/addresses/addresses.ts";
import { CUSTODY_CONSTANTS } from "../../core/protocol/generated/custody.ts";
import * as s from "../programs/fixture/settlement.ts";
import { putTokenAccount } from "../programs/fixture/token-account.ts";
import { type Wallet, wallet } from "../programs/fixture/wallet.ts";
import { labelled } from "../simulation/world-escrow.ts";
import { report, sizeOf } from "./support/report.ts";

// The search for bumps dominates the cost, so the addresses vary, but in the same way in every run.
const PAIRS = sizeOf({ quick: 20, long: 200 });
const PART = 2n;

const ledger = s.initializedLedger();
const consumed: Record<string, Array<number>> = {};

const measure = (
  name: string,
  instructions: ReadonlyArray<Instruction>,
  signer: Wallet = s.stranger,
): void => {
  const { computeUnits } = ledger.do(instructions, [signer]);
  (consumed[name] ??= []).push(Number(computeUnits));
};

const pairs = Array.from({ length: PAIRS }, (_, i) => {
  const agent = wallet(`bench agent ${i}`);
  const merchant = wallet(`bench merchant ${i}`);
  for (const each of [agent, merchant]) ledger.fund(each.address);
  putTokenAccount(ledger, agent.address, s.mint, 1_000_000_000n);
  putTokenAccount(ledger, merchant.address, s.mint, 0n);
  ledger.do([s.registerInstruction(merchant, s.attestor.address)], [merchant]);
  return { agent, merchant };
});

/** A session's proof over the terms that it has on the ledger. */
const prove = (escrow: Address, total: bigint, deliveries: number, isFinal = false) => {
  const terms = s.termsOn(ledger, escrow);
  return s.proveInstruction({
    total,
    deliveries,
    isFinal,
    attestation: { terms, timestamp: ledger.time },
    voucher: { terms },
  });
};

const lives = pairs.map(({ agent, merchant }, i) => {
  const create = (task: string, sessionKey: Address | null = null) => {
    const taskHash = hash32FromBytes(labelled(`bench task ${i} ${task}`));
    const parties = { payer: agent.address, agentOwner: agent.address, merchant: merchant.address };
    const name = sessionKey === null ? "create_escrow" : "create_escrow, session";
    measure(name, [s.createInstruction({ ...parties, taskHash, sessionKey })], agent);
    return escrowAddress(s.deployment, agent.address, taskHash).address;
  };
  const refund = (escrow: Address, lastBytes?: Uint8Array) =>
    s.refundInstruction({ escrow, agentOwner: agent.address, lastBytes });
  const rent = (escrow: Address, lastBytes?: Uint8Array) =>
    s.rentInstruction({ escrow, rentPayer: agent.address, lastBytes });
  const paying = { merchant: merchant.address };

  const whole = create("release");
  const attested = s.attestOn(ledger, { escrow: whole });
  measure("release_escrow", [attested, s.releaseInstruction({ ...paying, escrow: whole })]);
  measure("return_rent", [rent(whole)]);
  const part = create("partial");
  measure("release_escrow, a part", [
    s.attestOn(ledger, { escrow: part, total: PART }),
    s.releaseInstruction({ ...paying, escrow: part }),
  ]);
  const toRefund = create("refund");
  const cancelled = create("cancel");
  const cancel = s.cancelInstruction({ escrow: cancelled, merchant: merchant.address });
  measure("cancel_escrow", [cancel], merchant);
  measure("claim_refund, settled", [refund(cancelled)]);

  const session = create("session", s.sessionKey.address);
  for (const total of [10n, 20n])
    measure("capture", [
      prove(session, total, Number(total)),
      s.captureInstruction({ ...paying, escrow: session }),
    ]);
  measure(
    "close_session",
    [s.closeInstruction({ escrow: session, agentOwner: agent.address })],
    agent,
  );
  measure("release_escrow, session", [
    prove(session, 30n, 30, true),
    s.releaseInstruction({ ...paying, escrow: session }),
  ]);
  return { agent, whole, part, toRefund, refund, rent };
});
ledger.time += BigInt(s.TTL_SECONDS);
for (const { toRefund, refund } of lives) measure("claim_refund, expired", [refund(toRefund)]);
ledger.time += BigInt(CUSTODY_CONSTANTS.ARCHIVE_DELAY_SECONDS);
for (const { agent, whole, part, refund, rent } of lives) {
  const lastBytes = ledger.account(part).data;
  for (const escrow of [whole, part])
    measure("archive_escrow", [s.archiveInstruction(ledger, { escrow, rentPayer: agent.address })]);
  measure("claim_refund, archived", [refund(part, lastBytes)]);
  measure("return_rent, archived", [rent(part, lastBytes)]);
}

/** The most that a median may be, with p-token and with the token programs of Agave 3.1.12 (AGAVE_PROGRAMS). */
const GOALS: Readonly<Record<string, readonly [pToken: number, agave: number]>> = {
  create_escrow: [28_000, 40_000],
  "create_escrow, session": [28_000, 40_000],
  release_escrow: [9_500, 17_000],
  capture: [5_000, 9_500],
  "release_escrow, session": [12_000, 16_500],
  "claim_refund, expired": [5_500, 13_000],
};
const isAgave = process.env["AGAVE_PROGRAMS"] !== undefined;

for (const [name, units] of Object.entries(consumed)) {
  const sorted = units.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const goal = GOALS[name]?.[isAgave ? 1 : 0];
  report({
    name: `${name}${isAgave ? ", Agave's token" : ""} (${sorted.length})`,
    goal: goal === undefined ? "" : `<= ${goal}`,
    figure: median,
    unit: "CU, median",
    ratio: `${sorted[0]} to ${sorted.at(-1)}`,
    pass: goal === undefined ? null : median <= goal,
  });
}
