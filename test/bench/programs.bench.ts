import { hash32FromBytes } from "../../core/domain/hash32.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import { associatedTokenAddress, escrowAddress } from "../../core/protocol/addresses/addresses.ts";
import * as s from "../programs/fixture/settlement.ts";
import { putTokenAccount } from "../programs/fixture/token-account.ts";
import { approve } from "../programs/fixture/token-instructions.ts";
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
    s.attestInstruction({ escrow: whole.escrow }),
    s.releaseInstruction(whole),
  ]);
  const part = create("partial");
  measure("release_partial", [
    s.attestInstruction({ escrow: part.escrow, partialAmount: PART }),
    s.partialInstruction(PART, part),
  ]);
  const toRefund = s.refundInstruction(create("refund"));
  const toRefundLast = s.refundInstruction(
    create("refund to an associated account with a delegate"),
  );
  return { agent, toRefund, toRefundLast };
});
ledger.time += BigInt(s.TTL_SECONDS);
for (const { agent, toRefund, toRefundLast } of refunds) {
  measure("claim_refund", [toRefund]);
  const account = associatedTokenAddress(agent.address, s.mint);
  ledger.do([approve(account, s.stranger.address, agent.address, 1n)], [agent]);
  measure("claim_refund, the account has a delegate", [toRefundLast]);
}

for (const [name, units] of Object.entries(consumed)) {
  const sorted = units.toSorted((a, b) => a - b);
  report({
    name: `${name} (${sorted.length})`,
    goal: "",
    figure: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
    unit: "CU, median",
    ratio: `${sorted[0]} to ${sorted.at(-1)}`,
    pass: null,
  });
}
