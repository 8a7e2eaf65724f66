import { expect, test } from "bun:test";
import { signedTransaction } from "../../../adapters/local-ledger/genesis/signed-transaction.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import { COMPUTE_BUDGET_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import * as s from "../fixture/settlement.ts";
import { ARCHIVABLE, at, settled } from "../fixture/settlement-attempts.ts";
import { type Wallet, wallet } from "../fixture/wallet.ts";

// The size of a network packet (Agave `sdk/packet`: PACKET_DATA_SIZE).
const MOST = 1232;

const sizeOf = (
  instructions: ReadonlyArray<Instruction>,
  [payer, ...signers]: readonly [Wallet, ...ReadonlyArray<Wallet>],
): number => signedTransaction({ payer, signers, instructions, blockhash: s.mint }).length;

/** Unit limit and unit price: a settlement has no limit of loaded data. */
const budget: ReadonlyArray<Instruction> = [
  [2, 5],
  [3, 9],
].map(([kind = 0, length = 0]) => ({
  programAddress: COMPUTE_BUDGET_PROGRAM,
  accounts: [],
  data: new Uint8Array(length).with(0, kind),
}));

const prove = (isFinal: boolean) => s.proveInstruction({ total: 2n, deliveries: 1, isFinal });
const captureToTill = s.captureInstruction({ merchantFallbackAccount: wallet("till").address });
const merchantAccount = createAssociatedTokenInstruction({
  payer: s.stranger.address,
  owner: s.merchant.address,
  mint: s.mint,
});
const target = { rentPayer: wallet("rent payer").address };
const rent = s.rentInstruction(target);
const toFallback = s.refundInstruction({ agentFallbackAccount: wallet("purse").address });
const release = s.releaseInstruction({ merchantFallbackAccount: wallet("till").address });
const final = prove(true);
const lastBytes = at(ARCHIVABLE, settled()).account(s.escrow).data;

/** Each form with the compute budget that prepared ones have, who signs it, and the most that it may take. */
const FORMS: ReadonlyArray<
  readonly [string, number, ReadonlyArray<Instruction>, Wallet, ...ReadonlyArray<Wallet>]
> = [
  [
    "create_escrow",
    1132,
    [s.createInstruction({ payer: s.stranger.address })],
    s.stranger,
    s.agent,
  ],
  ["capture", 1132, [prove(false), s.captureInstruction()], s.stranger],
  ["capture to a fallback", 1132, [prove(false), captureToTill], s.stranger],
  ["release of a payment", 1132, [s.attestInstruction(), s.releaseInstruction()], s.stranger],
  [
    "release of a payment, refund and rent, to fallbacks",
    1132,
    [s.attestInstruction(), release, toFallback, rent],
    s.stranger,
  ],
  [
    "release of a payment that makes the merchant's account, refund and rent",
    1132,
    [merchantAccount, s.attestInstruction(), release, s.refundInstruction(), rent],
    s.stranger,
  ],
  ["release of a session", 1132, [final, s.releaseInstruction()], s.stranger],
  [
    "release of a session and refund",
    1132,
    [final, s.releaseInstruction(), s.refundInstruction()],
    s.stranger,
  ],
  [
    "release of a session, refund and rent",
    MOST,
    [final, s.releaseInstruction(), s.refundInstruction(), rent],
    s.stranger,
  ],
  [
    "release of a session, refund and rent, to fallbacks",
    MOST,
    [final, release, toFallback, rent],
    s.stranger,
  ],
  ["cancellation, refund and rent", 1132, [s.cancelInstruction(), toFallback, rent], s.merchant],
  [
    "capture, cancellation, refund and rent",
    MOST,
    [prove(false), s.captureInstruction(), s.cancelInstruction(), s.refundInstruction(), rent],
    s.merchant,
  ],
  ["close_session", 1132, [s.closeInstruction()], s.agent],
  ["refund and rent", 1132, [toFallback, rent], s.stranger],
  ["refund of an archived escrow", 1132, [s.refundInstruction({ lastBytes })], s.stranger],
  ["rent of an archived escrow", 1132, [s.rentInstruction({ lastBytes })], s.stranger],
  [
    "archiving, which contains the escrow's bytes",
    1132,
    [s.archiveInstruction(at(ARCHIVABLE, settled()))],
    s.stranger,
  ],
];

test.each(FORMS)("%s fits in at most %d bytes", (name, most, instructions, payer, ...signers) => {
  const size = sizeOf([...budget, ...instructions], [payer, ...signers]);
  console.log(`${String(size).padStart(5)} bytes: ${name}`);
  expect(size).toBeLessThanOrEqual(most);
});
