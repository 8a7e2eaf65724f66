import { describe, expect, test } from "bun:test";
import { type Instruction, readonly } from "../../core/domain/instruction.ts";
import type { SettlementRule } from "../../core/domain/settlement-rule.ts";
import { SETTLEMENT_RULES } from "../../core/domain/settlement-rule.ts";
import { attestationMessage } from "../../core/protocol/attestation.ts";
import {
  rotateAttestorInstruction,
  setMerchantStatusInstruction,
} from "../../core/protocol/attestor-instructions.ts";
import { ed25519Instruction } from "../../core/protocol/ed25519-instruction.ts";
import { createAssociatedTokenInstruction } from "../../core/protocol/token.ts";
import { SYSTEM_PROGRAM } from "../../core/protocol/well-known-addresses.ts";
import { verdicts } from "./fixture/precheck.ts";
import * as s from "./fixture/settlement.ts";
import { forgeCopy, nowhere, withAccount, withData } from "./fixture/tampering.ts";
import type { TestLedger } from "./fixture/test-ledger.ts";
import { putTokenAccount } from "./fixture/token-account.ts";
import { type Wallet, wallet } from "./fixture/wallet.ts";

const EXPIRY = s.START + BigInt(s.TTL_SECONDS);
const attest = s.attestInstruction();
const release = s.releaseInstruction();
const refund = s.refundInstruction();
const partial = s.partialInstruction(2n);
const attestPartial = (amount: bigint) => s.attestInstruction({ partialAmount: amount });
const suspended = (): TestLedger => {
  const ledger = s.escrowLedger();
  const by = { admin: s.upgradeAuthority.address, merchant: s.merchant.address };
  ledger.do(
    [setMerchantStatusInstruction(s.deployment, { ...by, status: "Suspended" })],
    [s.upgradeAuthority],
  );
  return ledger;
};
const rotate = (to: Wallet): Instruction =>
  rotateAttestorInstruction(s.deployment, { merchant: s.merchant.address, attestor: to.address });
const newKey = wallet("new attestor");
const at = (time: bigint, ledger = s.escrowLedger()): TestLedger => {
  ledger.time = time;
  return ledger;
};
const withByte = ({ data, ...rest }: Instruction, place: number, byte: number): Instruction => ({
  ...rest,
  data: data.with(place, byte),
});
const appended = ({ accounts, ...rest }: Instruction, count: number): Instruction => ({
  ...rest,
  accounts: [...accounts, ...Array.from({ length: count }, () => readonly(nowhere))],
});
const settled = (): TestLedger => {
  const ledger = s.escrowLedger();
  ledger.do([attest, release], [s.stranger]);
  return ledger;
};

/** Rule, what is sent to which ledger, what the program itself says, and what the detail must name. */
type Case = {
  readonly rule: SettlementRule;
  readonly of: string;
  readonly ledger: () => TestLedger;
  readonly instructions: (ledger: TestLedger) => ReadonlyArray<Instruction>;
  readonly signers?: readonly [Wallet, ...ReadonlyArray<Wallet>];
  readonly refusal: string;
  readonly detail: string;
};

const cases: ReadonlyArray<Case> = [
  {
    rule: "unknown_instruction",
    of: "data of no instruction",
    ledger: s.escrowLedger,
    instructions: () => [withData(refund, Uint8Array.of(1, 2, 3))],
    refusal: "6000 InvalidInstruction",
    detail: "none of the custody program's instructions",
  },
  {
    rule: "wrong_account_count",
    of: "an account too few",
    ledger: () => at(EXPIRY),
    instructions: () => [{ ...refund, accounts: refund.accounts.slice(0, -1) }],
    refusal: "6001 MissingAccount",
    detail: "needs 5 accounts, and at most 32, not 4",
  },
  {
    rule: "wrong_account_count",
    of: "more accounts than the program reads",
    ledger: () => at(EXPIRY),
    instructions: () => [appended(refund, 28)],
    refusal: "6001 MissingAccount",
    detail: "needs 5 accounts, and at most 32, not 33",
  },
  {
    rule: "wrong_account",
    of: "another rent payer",
    ledger: s.escrowLedger,
    instructions: () => [attest, withAccount(release, "rent_payer", s.stranger.address)],
    refusal: "6023 WrongRentPayer",
    detail: "rent_payer",
  },
  {
    rule: "wrong_account",
    of: "another vault",
    ledger: () => at(EXPIRY),
    instructions: () => [withAccount(refund, "vault", s.agentTokens)],
    refusal: "6021 WrongVault",
    detail: s.vault,
  },
  {
    rule: "wrong_account",
    of: "another merchant account",
    ledger: s.escrowLedger,
    instructions: (ledger) => [
      attest,
      withAccount(release, "merchant", forgeCopy(ledger, s.merchantPda)),
    ],
    refusal: "6013 WrongMerchant",
    detail: s.merchantPda,
  },
  {
    rule: "wrong_account",
    of: "another token program",
    ledger: () => at(EXPIRY),
    instructions: () => [withAccount(refund, "token_program", nowhere)],
    refusal: "6010 WrongTokenProgram",
    detail: "token_program",
  },
  {
    rule: "wrong_account",
    of: "an escrow address of another task",
    ledger: s.merchantLedger,
    instructions: () => [withAccount(s.createInstruction(), "escrow", nowhere)],
    signers: [s.agent],
    refusal: "6019 WrongEscrow",
    detail: s.escrow,
  },
  {
    rule: "not_an_escrow",
    of: "a merchant account in its place",
    ledger: s.escrowLedger,
    instructions: () => [attest, withAccount(release, "escrow", s.merchantPda)],
    refusal: "6019 WrongEscrow",
    detail: s.merchantPda,
  },
  {
    rule: "not_pending",
    of: "a second release",
    ledger: settled,
    instructions: () => [attest, release],
    refusal: "6024 NotPending",
    detail: "Fulfilled since 2026-01-01T00:00:00Z",
  },
  {
    rule: "not_pending",
    of: "a refund after a release",
    ledger: () => at(EXPIRY, settled()),
    instructions: () => [refund],
    refusal: "6024 NotPending",
    detail: "Fulfilled",
  },
  {
    rule: "expired",
    of: "a release in the second of expiry",
    ledger: () => at(EXPIRY),
    instructions: () => [attest, release],
    refusal: "6025 Expired",
    detail: "0 s ago",
  },
  {
    rule: "not_expired",
    of: "a refund long before expiry",
    ledger: s.escrowLedger,
    instructions: () => [refund],
    refusal: "6026 NotExpired",
    detail: `in ${s.TTL_SECONDS} s`,
  },
  {
    rule: "amount_out_of_range",
    of: "a partial release of everything",
    ledger: s.escrowLedger,
    instructions: () => [attestPartial(s.AMOUNT), s.partialInstruction(s.AMOUNT)],
    refusal: "6015 InvalidAmount",
    detail: `below the escrow's ${s.AMOUNT}`,
  },
  {
    rule: "amount_out_of_range",
    of: "an escrow of nothing",
    ledger: s.merchantLedger,
    instructions: () => [s.createInstruction({ amount: 0n })],
    signers: [s.agent],
    refusal: "6015 InvalidAmount",
    detail: "above 0",
  },
  {
    rule: "ttl_out_of_range",
    of: "a second more than seven days",
    ledger: s.merchantLedger,
    instructions: () => [s.createInstruction({ ttlSeconds: 604_801 })],
    signers: [s.agent],
    refusal: "6016 InvalidTtl",
    detail: "604801 s",
  },
  {
    rule: "payout_account_wrong_owner",
    of: "the agent's account for the merchant",
    ledger: s.escrowLedger,
    instructions: () => [attest, withAccount(release, "merchant_token_account", s.agentTokens)],
    refusal: "6022 WrongMerchantTokenAccount",
    detail: s.agent.address,
  },
  {
    rule: "payout_account_wrong_owner",
    of: "the merchant's account for the agent's part",
    ledger: s.escrowLedger,
    instructions: () => [
      attestPartial(2n),
      withAccount(partial, "agent_token_account", s.merchantTokens),
    ],
    refusal: "6017 WrongAgentTokenAccount",
    detail: "the agent's payout account",
  },
  {
    rule: "payout_account_wrong_owner",
    of: "an account of another program",
    ledger: s.escrowLedger,
    instructions: () => [attest, withAccount(release, "merchant_token_account", s.merchantPda)],
    refusal: "6022 WrongMerchantTokenAccount",
    detail: "not an SPL Token account",
  },
  {
    rule: "payout_account_wrong_mint",
    of: "the merchant's account of another mint",
    ledger: s.escrowLedger,
    instructions: (ledger) => [
      attest,
      withAccount(
        release,
        "merchant_token_account",
        putTokenAccount(ledger, s.merchant.address, s.otherMint, 0n),
      ),
    ],
    refusal: "6022 WrongMerchantTokenAccount",
    detail: s.otherMint,
  },
  {
    rule: "ed25519_missing",
    of: "no attestation",
    ledger: s.escrowLedger,
    instructions: () => [release],
    refusal: "6119 AttestationMissing",
    detail: "no Ed25519 instruction",
  },
  {
    rule: "ed25519_misplaced",
    of: "the attestation behind the release",
    ledger: s.escrowLedger,
    instructions: () => [release, attest],
    refusal: "6119 AttestationMissing",
    detail: "is instruction 1, behind the release, instruction 0",
  },
  {
    rule: "ed25519_points_elsewhere",
    of: "a message in another instruction",
    ledger: s.escrowLedger,
    instructions: () => [withByte(withByte(attest, 14, 0), 15, 0), release],
    refusal: "6120 AttestationMalformed",
    detail: "takes its message from instruction 0",
  },
  {
    rule: "ed25519_malformed",
    of: "no signature at all",
    ledger: s.escrowLedger,
    instructions: () => [withData(attest, Uint8Array.of(0, 0)), release],
    refusal: "6120 AttestationMalformed",
    detail: "it has 2 bytes",
  },
  {
    rule: "attestation_signature_invalid",
    of: "a signature with a bit flipped",
    ledger: s.escrowLedger,
    instructions: () => [withByte(attest, 50, (attest.data[50] ?? 0) ^ 1), release],
    // PrecompileError::InvalidSignature
    refusal: "custom 2",
    detail: s.attestor.address,
  },
  {
    rule: "wrong_attestor_key",
    of: "a stranger's key",
    ledger: s.escrowLedger,
    instructions: () => [s.attestInstruction({}, s.stranger), release],
    refusal: "6121 WrongAttestor",
    detail: `is signed by ${s.stranger.address}`,
  },
  {
    rule: "wrong_attestor_key",
    of: "the key before the rotation",
    ledger: () => {
      const ledger = s.escrowLedger();
      ledger.do([rotate(newKey)], [s.merchant]);
      return ledger;
    },
    instructions: () => [attest, release],
    refusal: "6121 WrongAttestor",
    detail: `${newKey.address}, which replaced it at 2026-01-01`,
  },
  ...(
    [
      ["escrow", { escrow: nowhere }],
      ["proof_hash", { proofHash: s.hashOf(9) }],
      ["timestamp", { timestamp: s.START + 1n }],
      ["length", { partialAmount: 3n }],
      ["escrow, timestamp", { escrow: nowhere, timestamp: s.START + 1n }],
    ] as const
  ).map(([parts, other]): Case => ({
    rule: "message_differs",
    of: parts,
    ledger: s.escrowLedger,
    instructions: () => [s.attestInstruction(other), release],
    refusal: "6122 WrongMessage",
    detail: `differs in ${parts}`,
  })),
  {
    rule: "message_differs",
    of: "amount",
    ledger: s.escrowLedger,
    instructions: () => [attestPartial(3n), partial],
    refusal: "6122 WrongMessage",
    detail: "differs in amount",
  },
  {
    rule: "attestation_stale",
    of: "an attestation of 320 s",
    ledger: () => at(s.START + 320n),
    instructions: () => [attest, release],
    refusal: "6123 AttestationStale",
    detail: "320 s old by the ledger's clock, 20 s too old",
  },
  {
    rule: "attestation_in_future",
    of: "an attestation of a minute from now",
    ledger: s.escrowLedger,
    instructions: () => {
      const timestamp = s.START + 60n;
      return [s.attestInstruction({ timestamp }), s.releaseInstruction({ timestamp })];
    },
    refusal: "6124 AttestationFromFuture",
    detail: "60 s ahead",
  },
  {
    rule: "attestation_outside_escrow",
    of: "an attestation from before the escrow",
    ledger: s.escrowLedger,
    instructions: () => {
      const timestamp = s.START - 1n;
      return [s.attestInstruction({ timestamp }), s.releaseInstruction({ timestamp })];
    },
    refusal: "6125 AttestationOutsideEscrow",
    detail: String(s.START - 1n),
  },
  {
    rule: "escrow_address_taken",
    of: "the same task again",
    ledger: s.escrowLedger,
    instructions: () => [s.createInstruction()],
    signers: [s.agent],
    refusal: "6020 EscrowExists",
    detail: s.escrow,
  },
  {
    rule: "merchant_unregistered",
    of: "nobody's wallet",
    ledger: s.initializedLedger,
    instructions: () => [s.createInstruction()],
    signers: [s.agent],
    refusal: "6013 WrongMerchant",
    detail: s.merchant.address,
  },
  {
    rule: "merchant_suspended",
    of: "a suspended merchant",
    ledger: suspended,
    instructions: () => [s.createInstruction({ taskHash: s.hashOf(0x77) })],
    signers: [s.agent],
    refusal: "6014 MerchantSuspended",
    detail: "Suspended",
  },
];

describe("names the rule that fails, and the program refuses the same", () => {
  test.each(cases.map((each) => [`${each.rule}: ${each.of}`, each] as const))("%s", (_, each) => {
    const ledger = each.ledger();
    const verdict = verdicts(ledger, each.instructions(ledger), each.signers ?? [s.stranger]);
    expect(verdict.rule).toBe(each.rule);
    expect(verdict.detail).toContain(each.detail);
    expect(verdict.refusal).toBeDefined();
    expect(verdict.refusal).toBe(each.refusal);
  });

  test("every rule has a case", () => {
    expect(new Set(cases.map(({ rule }) => rule))).toEqual(new Set(SETTLEMENT_RULES));
  });
});

describe("has no objection to what the program accepts", () => {
  const timestamp = s.START;
  test.each<
    readonly [
      string,
      () => TestLedger,
      ReadonlyArray<Instruction>,
      readonly [Wallet, ...ReadonlyArray<Wallet>],
    ]
  >([
    ["a release", s.escrowLedger, [attest, release], [s.stranger]],
    ["a partial release", s.escrowLedger, [attestPartial(2n), partial], [s.stranger]],
    ["a refund in the second of expiry", () => at(EXPIRY), [refund], [s.stranger]],
    ["an escrow", s.merchantLedger, [s.createInstruction()], [s.agent]],
    [
      "an escrow with accounts appended, such as a payment's reference",
      s.merchantLedger,
      [appended(s.createInstruction(), 20)],
      [s.agent],
    ],
    [
      "a release with accounts appended",
      s.escrowLedger,
      [attest, appended(release, 1)],
      [s.stranger],
    ],
    [
      "a registration, an escrow and its release at once",
      s.initializedLedger,
      [
        s.registerInstruction(s.merchant, s.attestor.address),
        s.createInstruction(),
        attest,
        release,
      ],
      [s.agent, s.merchant],
    ],
    [
      "a rotation and a release by the new key",
      s.escrowLedger,
      [rotate(newKey), s.attestInstruction({ timestamp }, newKey), release],
      [s.merchant],
    ],
    [
      "a payout account made in the same transaction",
      () => {
        const ledger = s.escrowLedger();
        ledger.put(s.merchantTokens, SYSTEM_PROGRAM, new Uint8Array());
        return ledger;
      },
      [
        createAssociatedTokenInstruction({
          payer: s.stranger.address,
          owner: s.merchant.address,
          mint: s.mint,
        }),
        attest,
        release,
      ],
      [s.stranger],
    ],
    [
      "a release of a suspended merchant's earlier escrow",
      suspended,
      [attest, release],
      [s.stranger],
    ],
    [
      "an unfit attestation before the fit one",
      s.escrowLedger,
      [s.attestInstruction({ proofHash: s.hashOf(9) }), attest, release],
      [s.stranger],
    ],
    ["an attestation of 300 s", () => at(s.START + 300n), [attest, release], [s.stranger]],
  ])("%s", (_, ledger, instructions, signers) => {
    const verdict = verdicts(ledger(), instructions, signers);
    expect(verdict).toMatchObject({ rule: undefined, refusal: undefined });
  });
});

test("leaves to the simulation what only the margin of the clock decides", () => {
  const stale = verdicts(at(s.START + 305n), [attest, release], [s.stranger]);
  expect(stale).toMatchObject({ rule: undefined, refusal: "6123 AttestationStale" });
  const early = verdicts(at(EXPIRY - 10n), [refund], [s.stranger]);
  expect(early).toMatchObject({ rule: undefined, refusal: "6026 NotExpired" });
});

test("leaves to the simulation what the ledger does not show yet", () => {
  const absent = verdicts(s.merchantLedger(), [attest, release], [s.stranger]);
  expect(absent).toMatchObject({ rule: undefined, refusal: "6019 WrongEscrow" });
});

test("an attestation signed over other bytes than it carries is not the merchant's", () => {
  const message = attestationMessage({ escrow: s.escrow, proofHash: s.PROOF, timestamp: s.START });
  const forged = ed25519Instruction({
    publicKey: s.attestor.address,
    signature: s.stranger.sign(message),
    message,
  });
  const verdict = verdicts(s.escrowLedger(), [forged, release], [s.stranger]);
  expect(verdict.rule).toBe("attestation_signature_invalid");
  expect(verdict.index).toBe(1);
});
