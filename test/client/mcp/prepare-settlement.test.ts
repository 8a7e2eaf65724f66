import { describe, expect, test } from "bun:test";
import { transferLamports } from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import type { ServiceCall } from "../../../client/mcp/ask.ts";
import { prepareSettlement } from "../../../client/mcp/tools/prepare-settlement.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import { unsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import * as s from "../../programs/fixture/settlement.ts";
import { transferTokens } from "../../programs/fixture/token-instructions.ts";
import { BLOCKHASH, TRUST } from "../support/fake-service.ts";
import { failureOf } from "../support/failure-of.ts";

const PAYER = s.stranger.address;
const THIEF = s.agent.address;
const made = (owner = s.agent.address, payer = PAYER): Instruction =>
  createAssociatedTokenInstruction({ payer, owner, mint: s.mint });

type Given = { readonly action: string; readonly [name: string]: string };
const CLAIM = {
  proof_hash: "22".repeat(32),
  timestamp: "2026-01-01T00:00:00Z",
  attestation_signature: "AAAA",
};
const PARTIAL = { action: "release", payer: PAYER, ...CLAIM, amount: "2000000" };

/** What the tool shows of a transaction that the service prepares for a request. */
const shownOf = (
  given: Given,
  instructions: ReadonlyArray<Instruction>,
  {
    payer = PAYER,
    escrow = s.escrow,
    rebuilds = true,
  }: { payer?: typeof PAYER; escrow?: typeof s.escrow; rebuilds?: boolean } = {},
) => {
  const base64 = encodeBase64(
    unsignedTransaction({ payer, instructions, blockhash: BLOCKHASH }).bytes,
  );
  const transaction = { base64, signers: [THIEF], last_valid_block_height: 7 };
  const call: ServiceCall = () =>
    Promise.resolve({
      status: 200,
      headers: new Headers(),
      text: JSON.stringify({ data: { escrow_pda: escrow, transaction } }),
    });
  const trust = policyIn(TRUST);
  const run = prepareSettlement.run(
    { escrow: s.escrow, ...given },
    { call, trust, rebuilds, canAsk: false, consentTo: () => null },
  );
  return { base64, run };
};

const REFUND = { action: "refund", payer: PAYER };
const honest: ReadonlyArray<readonly [string, Given, ReadonlyArray<Instruction>]> = [
  ["a refund", REFUND, [s.refundInstruction()]],
  ["a refund into an account that is absent", REFUND, [made(), s.refundInstruction()]],
  [
    "a release",
    { action: "release", payer: PAYER, ...CLAIM },
    [made(s.merchant.address), s.attestInstruction(), s.releaseInstruction()],
  ],
  [
    "a part of it",
    PARTIAL,
    [s.attestInstruction({ total: 2_000_000n }), s.partialInstruction(2_000_000n)],
  ],
  ["a cancellation", { action: "cancel", payer: PAYER }, [s.cancelInstruction()]],
];

const lies: ReadonlyArray<readonly [string, Given, ReadonlyArray<Instruction>]> = [
  ["a payment", REFUND, [s.createInstruction({ payer: PAYER, agentOwner: PAYER })]],
  ["another action", REFUND, [s.cancelInstruction()]],
  ["SOL for a thief", REFUND, [transferLamports(PAYER, THIEF, 1n), s.refundInstruction()]],
  [
    "tokens for a thief",
    REFUND,
    [s.refundInstruction(), transferTokens(s.agentTokens, THIEF, PAYER, 1n)],
  ],
  ["a second settlement", REFUND, [s.refundInstruction(), s.refundInstruction()]],
  ["an account for somebody else", REFUND, [made(PAYER), s.refundInstruction()]],
  ["an account at another's cost", REFUND, [made(THIEF, THIEF), s.refundInstruction()]],
  ["an attestation beside a refund", REFUND, [s.attestInstruction(), s.refundInstruction()]],
  [
    "a part instead of all",
    { ...REFUND, action: "release", ...CLAIM },
    [s.partialInstruction(2_000_000n)],
  ],
  ["another part", { ...PARTIAL, amount: "1" }, [s.partialInstruction(2_000_000n)]],
  ["nothing", REFUND, []],
];

describe("beside a wallet", () => {
  test.each(honest)("%s is shown, with its own signers", async (_, given, instructions) => {
    const { base64, run } = shownOf(given, instructions);
    expect(await run).toMatchObject({ result: { transaction: base64, escrow: s.escrow } });
    expect(await run).not.toMatchObject({ result: { signers: [THIEF] } });
  });

  test.each(lies)("a service that prepares %s is not shown", async (_, given, instructions) => {
    expect((await failureOf(shownOf(given, instructions).run)).code).toBe("prepared_otherwise");
  });

  test("another payer or escrow is not shown", async () => {
    for (const other of [{ payer: THIEF }, { escrow: THIEF }])
      expect((await failureOf(shownOf(REFUND, [s.refundInstruction()], other).run)).code).toBe(
        "prepared_otherwise",
      );
  });
});

test("on the service itself it is the service that speaks", async () => {
  const { run } = shownOf(REFUND, [], { rebuilds: false });
  expect(await run).toMatchObject({ result: { signers: [THIEF] } });
});
