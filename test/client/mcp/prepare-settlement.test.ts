import { describe, expect, test } from "bun:test";
import { transferLamports } from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import type { ServiceCall } from "../../../client/mcp/ask.ts";
import { prepareSettlement } from "../../../client/mcp/tools/prepare-settlement.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { Address } from "../../../core/domain/address.ts";
import { AccountRole, type Instruction } from "../../../core/domain/ledger/instruction.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import { associatedTokenAddress } from "../../../core/protocol/addresses/addresses.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import { readEd25519Instruction } from "../../../core/protocol/instructions/ed25519-instruction.ts";
import { unsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import * as s from "../../programs/fixture/settlement.ts";
import { transferTokens } from "../../programs/fixture/token-instructions.ts";
import { BLOCKHASH, TRUST } from "../support/fake-service.ts";
import { pendingRecord } from "../support/pending-record.ts";
import { failureOf } from "../support/failure-of.ts";
import { toolContext } from "./tool-context.ts";

const PAYER = s.stranger.address;
const THIEF = s.agent.address;
const made = (owner = s.agent.address, payer = PAYER): Instruction =>
  createAssociatedTokenInstruction({ payer, owner, mint: s.mint });

/** A call with accounts behind those that it needs, which the programs pass over. */
const appended = (call: Instruction, ...more: ReadonlyArray<Address>): Instruction => ({
  ...call,
  accounts: [...call.accounts, ...more.map((address) => ({ address, role: AccountRole.readonly }))],
});
const PAYERS = associatedTokenAddress(PAYER, s.mint);

type Given = { readonly action: string; readonly [name: string]: string | boolean };

/** The attestation in an Ed25519 instruction, as a caller gives it. */
const claimOf = (attest: Instruction) => {
  const form = readEd25519Instruction(attest.data);
  if (form.kind !== "single") throw new Error(form.kind);
  return {
    proof_hash: s.PROOF,
    timestamp: formatUnixTime(s.CLAIM.timestamp),
    attestation_signature: encodeBase64(form.attestation.signature),
  };
};
const ATTEST = s.attestInstruction();
const PART = s.attestInstruction({ total: 2_000_000n });
const RELEASE = { action: "release", payer: PAYER, ...claimOf(ATTEST) };
const PARTIAL = { action: "release", payer: PAYER, ...claimOf(PART), amount: "2000000" };
/** Another escrow of the agent. */
const OTHER = s.escrowOf(s.hashOf(0x33));

/** What the tool shows of a transaction that the service prepares for a request. */
const shownOf = (
  given: Given,
  instructions: ReadonlyArray<Instruction>,
  {
    payer = PAYER,
    escrow = s.escrow,
    rebuilds = true,
    agent = s.agent.address,
  }: {
    payer?: typeof PAYER;
    escrow?: typeof s.escrow;
    rebuilds?: boolean;
    agent?: typeof PAYER;
  } = {},
) => {
  const base64 = encodeBase64(
    unsignedTransaction({ payer, instructions, blockhash: BLOCKHASH }).bytes,
  );
  const transaction = { base64, signers: [THIEF], last_valid_block_height: 7 };
  const record = { ...pendingRecord(s.TASK, "5"), escrow_pda: s.escrow, agent_owner: agent };
  const context = { ledger_time: record.created_at };
  const call: ServiceCall = (path) =>
    Promise.resolve({
      status: 200,
      headers: new Headers(),
      text: JSON.stringify(
        path.includes("/prepare")
          ? { data: { escrow_pda: escrow, transaction } }
          : { data: record, context },
      ),
    });
  const trust = policyIn(TRUST);
  const run = prepareSettlement.run(
    { escrow: s.escrow, ...given },
    toolContext(call, { trust, rebuilds }),
  );
  return { base64, run };
};

const REFUND = { action: "refund", payer: PAYER };
const CANCEL = { action: "cancel", payer: PAYER };
const honest: ReadonlyArray<readonly [string, Given, ReadonlyArray<Instruction>]> = [
  ["a refund", REFUND, [s.refundInstruction()]],
  ["a refund with the rent", REFUND, [s.refundInstruction(), s.rentInstruction()]],
  ["a refund into an account that is absent", REFUND, [made(), s.refundInstruction()]],
  ["a release", RELEASE, [made(s.merchant.address), ATTEST, s.releaseInstruction()]],
  ["a release with the rent", RELEASE, [ATTEST, s.releaseInstruction(), s.rentInstruction()]],
  [
    "a part of it with the rest",
    PARTIAL,
    [PART, s.releaseInstruction(), s.refundInstruction(), s.rentInstruction()],
  ],
  ["a cancellation", CANCEL, [s.cancelInstruction()]],
  ["a cancellation with the rest", CANCEL, [s.cancelInstruction(), s.refundInstruction()]],
  ["a cancellation alone", { ...CANCEL, bare: true }, [s.cancelInstruction()]],
  ["the closing of a session", { action: "close", payer: PAYER }, [s.closeInstruction()]],
  ["the rent", { action: "rent", payer: PAYER }, [s.rentInstruction()]],
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
  ["a settlement behind the rent", CANCEL, [s.rentInstruction(), s.cancelInstruction()]],
  ["a cancellation behind a refund", REFUND, [s.refundInstruction(), s.cancelInstruction()]],
  [
    "the rent of another escrow",
    REFUND,
    [s.refundInstruction(), s.rentInstruction({ escrow: OTHER })],
  ],
  [
    "the rest beside a settlement alone",
    { ...CANCEL, bare: true },
    [s.cancelInstruction(), s.refundInstruction()],
  ],
  [
    "a refund beside the rent",
    { action: "rent", payer: PAYER },
    [s.refundInstruction(), s.rentInstruction()],
  ],
  ["an account for somebody else", REFUND, [made(PAYER), s.refundInstruction()]],
  [
    "an account for somebody else, named behind the call",
    REFUND,
    [made(PAYER), appended(s.refundInstruction(), PAYERS)],
  ],
  [
    "an account for somebody else, named behind a release",
    RELEASE,
    [made(PAYER), ATTEST, appended(s.releaseInstruction(), PAYERS)],
  ],
  [
    "an account for somebody else in the agent's place, which an empty vault leaves unread",
    REFUND,
    [made(PAYER), s.refundInstruction({ agentOwner: PAYER })],
  ],
  [
    "an account for the other side's fallback",
    REFUND,
    [made(PAYER), s.refundInstruction({ agentFallbackAccount: PAYERS })],
  ],
  ["two accounts", REFUND, [made(), made(), s.refundInstruction()]],
  ["an account beside a cancellation", CANCEL, [made(s.merchant.address), s.cancelInstruction()]],
  ["a signature more", REFUND, [appended(s.refundInstruction(), THIEF)]],
  ["an account at another's cost", REFUND, [made(THIEF, THIEF), s.refundInstruction()]],
  ["an attestation beside a refund", REFUND, [ATTEST, s.refundInstruction()]],
  ["a release without its attestation", RELEASE, [s.releaseInstruction()]],
  ["a second attestation", RELEASE, [PART, ATTEST, s.releaseInstruction()]],
  ["a part instead of all", RELEASE, [PART, s.releaseInstruction()]],
  ["another part", { ...PARTIAL, amount: "1" }, [PART, s.releaseInstruction()]],
  ["another proof", { ...RELEASE, proof_hash: "33".repeat(32) }, [ATTEST, s.releaseInstruction()]],
  [
    "another time",
    { ...RELEASE, timestamp: "2026-01-01T00:00:01Z" },
    [ATTEST, s.releaseInstruction()],
  ],
  [
    "a time that no calendar has",
    RELEASE,
    [s.attestInstruction({ timestamp: 2n ** 62n }), s.releaseInstruction()],
  ],
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

  test("the agent of an absent account is proven by the escrow's address, or by an archived one's bytes", async () => {
    const lie = shownOf(REFUND, [made(PAYER), s.refundInstruction({ agentOwner: PAYER })], {
      agent: PAYER,
    });
    expect((await failureOf(lie.run)).code).toBe("unsound_escrow");
    const ledger = s.escrowLedger();
    ledger.send([s.cancelInstruction()], [s.merchant]);
    const lastBytes = ledger.account(s.escrow).data;
    const archived = (agentOwner: typeof PAYER) =>
      shownOf(REFUND, [made(agentOwner), s.refundInstruction({ agentOwner, lastBytes })], {
        agent: PAYER,
      }).run;
    expect(await archived(s.agent.address)).toMatchObject({ result: { escrow: s.escrow } });
    expect((await failureOf(archived(PAYER))).code).toBe("prepared_otherwise");
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
