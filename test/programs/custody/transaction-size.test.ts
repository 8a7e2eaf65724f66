import { expect, test } from "bun:test";
import { signedTransaction } from "../../../adapters/local-ledger/genesis/signed-transaction.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import { COMPUTE_BUDGET_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import * as s from "../fixture/settlement.ts";
import { ARCHIVABLE, at, attestPartial, settled } from "../fixture/settlement-attempts.ts";
import { type Wallet, wallet } from "../fixture/wallet.ts";

// The size of a network packet (Agave `sdk/packet`: PACKET_DATA_SIZE).
const MOST = 1232;

const sizeOf = (
  instructions: ReadonlyArray<Instruction>,
  [payer, ...signers]: readonly [Wallet, ...ReadonlyArray<Wallet>],
): number => signedTransaction({ payer, signers, instructions, blockhash: s.mint }).length;

/** Unit limit, unit price and limit of loaded data. */
const budget: ReadonlyArray<Instruction> = [
  [2, 5],
  [3, 9],
  [4, 5],
].map(([kind = 0, length = 0]) => ({
  programAddress: COMPUTE_BUDGET_PROGRAM,
  accounts: [],
  data: new Uint8Array(length).with(0, kind),
}));

const made = [s.merchant, s.agent].map(({ address }) =>
  createAssociatedTokenInstruction({ payer: s.stranger.address, owner: address, mint: s.mint }),
);
const target = { rentPayer: wallet("rent payer").address };

test("the largest settlement, a partial release that makes both payees' accounts, fits with a compute budget", () => {
  const settle = [...made, attestPartial(2n), s.partialInstruction(2n, target)];
  expect(sizeOf(settle, [s.stranger])).toBeLessThanOrEqual(1132);
  expect(sizeOf([...budget, ...settle], [s.stranger])).toBeLessThanOrEqual(1132);
});

test("a partial release that names fallbacks for both payees fits too", () => {
  const fallbacks = {
    merchantFallbackAccount: wallet("till").address,
    agentFallbackAccount: wallet("purse").address,
  };
  const settle = [attestPartial(2n), s.partialInstruction(2n, { ...target, ...fallbacks })];
  expect(sizeOf([...budget, ...settle], [s.stranger])).toBeLessThanOrEqual(1132);
  expect(sizeOf([...budget, ...made, ...settle], [s.stranger])).toBeLessThanOrEqual(MOST);
});

test("archiving, which contains the escrow's bytes, fits too", () => {
  const archive = s.archiveInstruction(at(ARCHIVABLE, settled()));
  expect(sizeOf([...budget, archive], [s.stranger])).toBeLessThanOrEqual(MOST);
});
