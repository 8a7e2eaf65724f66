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

const refunds = pairs.flatMap(({ agent, merchant }, i) => {
  const parties = {
    agentOwner: agent.address,
    merchant: merchant.address,
    rentPayer: agent.address,
  };
  const create = (task: string) => {
    const taskHash = hash32FromBytes(labelled(`bench task ${i} ${task}`));
    const terms = { ...parties, payer: agent.address, taskHash };
    measure("create_escrow", [s.createInstruction(terms)], agent);
    return { ...parties, escrow: escrowAddress(s.deployment, agent.address, taskHash).address };
  };
  const whole = create("release");
  measure("release_escrow", [
    s.attestOn(ledger, { escrow: whole.escrow }),
    s.releaseInstruction(whole),
  ]);
  const part = create("partial");
  measure("release_partial", [
    s.attestOn(ledger, { escrow: part.escrow, total: PART }),
    s.partialInstruction(PART, part),
  ]);
  const toRefund = s.refundInstruction(create("refund"));
  measure("cancel_escrow", [s.cancelInstruction(create("cancel"))], merchant);
  return { toRefund, whole };
});
ledger.time += BigInt(s.TTL_SECONDS);
for (const { toRefund } of refunds) measure("claim_refund", [toRefund]);
ledger.time += BigInt(CUSTODY_CONSTANTS.ARCHIVE_DELAY_SECONDS);
for (const { whole } of refunds) measure("archive_escrow", [s.archiveInstruction(ledger, whole)]);

/** The most that a median may be. */
const GOALS: Readonly<Record<string, number>> = {
  create_escrow: 28_000,
  release_escrow: 9_500,
  claim_refund: 5_500,
};

for (const [name, units] of Object.entries(consumed)) {
  const sorted = units.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const goal = GOALS[name];
  report({
    name: `${name} (${sorted.length})`,
    goal: goal === undefined ? "" : `<= ${goal}`,
    figure: median,
    unit: "CU, median",
    ratio: `${sorted[0]} to ${sorted.at(-1)}`,
    pass: goal === undefined ? null : median <= goal,
  });
}
