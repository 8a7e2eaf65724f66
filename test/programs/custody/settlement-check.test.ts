import { describe, expect, test } from "bun:test";
import { type Instruction } from "../../../core/domain/ledger/instruction.ts";
import {
  SETTLEMENT_RULES,
  type SettlementRule,
} from "../../../core/domain/relay/settlement-rule.ts";
import { attestationMessage } from "../../../core/protocol/instructions/attestation.ts";
import { ed25519Instruction } from "../../../core/protocol/instructions/ed25519-instruction.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import { SYSTEM_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { verdicts } from "../fixture/precheck.ts";
import * as s from "../fixture/settlement.ts";
import { nowhere } from "../fixture/tampering.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { putTokenAccount } from "../fixture/token-account.ts";
import { approve, revoke } from "../fixture/token-instructions.ts";
import type { Wallet } from "../fixture/wallet.ts";
import { REFUSED_SETTLEMENTS } from "../fixture/refused-settlements/refused-settlements.ts";
import {
  EXPIRY,
  attest,
  release,
  refund,
  attestPart,
  suspended,
  rotate,
  newKey,
  at,
  appended,
  ARCHIVABLE,
  captured,
  capturedLedger,
  close,
  closedLedger,
  CLOSES_AT,
  madeTill,
  released,
  removed,
  rent,
  TILL,
  cancel,
  givenAway,
  settled,
} from "../fixture/settlement-attempts.ts";

/** The rules for each refusal of the program. */
const RULES_OF: Readonly<Record<string, ReadonlyArray<SettlementRule>>> = {
  "6000 InvalidInstruction": ["unknown_instruction"],
  "6001 MissingAccount": ["wrong_account_count"],
  "6007 WrongConfig": ["wrong_account"],
  "6008 WrongAttestorProgram": ["wrong_account"],
  "6009 WrongSystemProgram": ["wrong_account"],
  "6010 WrongTokenProgram": ["wrong_account"],
  "6011 WrongAssociatedTokenProgram": ["wrong_account"],
  "6012 WrongMint": ["wrong_account"],
  "6013 WrongMerchant": ["wrong_account", "merchant_unregistered"],
  "6014 MerchantSuspended": ["merchant_suspended"],
  "6015 InvalidAmount": ["amount_out_of_range"],
  "6016 InvalidTtl": ["ttl_out_of_range"],
  "6017 WrongAgentTokenAccount": ["payout_account_not_associated"],
  // A tombstone's copy has the right hash for bytes that lead to another address.
  "6019 WrongEscrow": ["not_an_escrow", "wrong_account", "last_bytes_differ"],
  "6020 EscrowExists": ["escrow_address_taken"],
  "6021 WrongVault": ["wrong_account"],
  "6022 WrongMerchantTokenAccount": [
    "payout_account_not_associated",
    "payout_account_wrong_mint",
    "payout_account_wrong_owner",
  ],
  "6023 WrongRentPayer": ["wrong_account"],
  "6024 NotPending": ["not_pending"],
  "6025 Expired": ["expired"],
  "6026 NotExpired": ["not_expired"],
  "6027 AttestationMissing": ["ed25519_missing", "ed25519_misplaced"],
  "6028 PayoutAccountShared": ["payout_account_shared"],
  "6029 NotSession": ["not_session"],
  "6030 PayoutAccountUnusable": ["payout_account_unusable"],
  "6031 AttestorChanged": ["attestor_changed"],
  "6032 NotMerchantWallet": ["wrong_account"],
  "6033 NotSettled": ["not_settled"],
  "6034 NotArchivable": ["not_archivable"],
  "6035 WrongLastBytes": ["last_bytes_differ"],
  "6036 EscrowArchived": ["escrow_archived"],
  "6037 TooManyAccounts": ["wrong_account_count"],
  "6039 AttestationMalformed": ["ed25519_malformed", "ed25519_points_elsewhere"],
  "6040 WrongTerms": ["terms_differ"],
  "6041 WrongAttestor": ["wrong_attestor_key"],
  "6042 WrongMessage": ["message_differs"],
  "6043 AttestationStale": ["attestation_stale"],
  "6044 AttestationFromFuture": ["attestation_in_future"],
  "6045 AttestationOutsideEscrow": ["attestation_outside_escrow"],
  "6046 EscrowRevoked": ["attestor_revoked"],
  "6047 WrongInstructionsSysvar": ["wrong_account"],
  "6048 NotAgentWallet": ["wrong_account"],
  "6049 SessionClosing": ["session_closing"],
  "6050 VoucherMissing": ["voucher_missing"],
  "6051 WrongSessionKey": ["wrong_session_key"],
  "6052 WrongVoucher": ["wrong_voucher"],
  "6053 DeliveriesFall": ["deliveries_fall"],
  "6107 WrongRegistry": ["wrong_account"],
  // PrecompileError::InvalidSignature
  "custom 2": ["attestation_signature_invalid", "voucher_signature_invalid"],
};

describe("names the rule that fails, and the program refuses the same", () => {
  const ruled = REFUSED_SETTLEMENTS.filter(({ rule }) => rule !== undefined);
  test.each(ruled.map((each) => [`${each.rule}: ${each.of}`, each] as const))("%s", (_, each) => {
    const ledger = each.ledger();
    const verdict = verdicts(ledger, each.instructions(ledger), each.signers ?? [s.stranger]);
    expect(verdict.rule).toBe(each.rule);
    expect(verdict.detail).toContain(each.detail ?? "");
    expect(verdict.refusal).toBeDefined();
    expect(verdict.refusal).toBe(each.refusal);
  });

  test("every rule has a case", () => {
    // The programs accept a key of small order, but no attestation can verify under it.
    const more: ReadonlyArray<SettlementRule> = ["attestor_unusable"];
    const rules = REFUSED_SETTLEMENTS.flatMap(({ rule, refusal }) =>
      rule === undefined ? (RULES_OF[refusal] ?? []) : [rule],
    );
    expect(new Set([...rules, ...more])).toEqual(new Set(SETTLEMENT_RULES));
  });
});

/**
 * What the check leaves to the simulation: roles, balances, and what an earlier instruction of the same transaction
 * changes.
 */
const NOT_JUDGED = new Set([
  "6002 MissingSignature",
  "6003 AccountNotWritable",
  "6017 WrongAgentTokenAccount",
  "6018 InsufficientFunds",
  "6021 WrongVault",
  "6022 WrongMerchantTokenAccount",
]);
/** The same for what lies within the clock's margin. */
const BY_THE_CLOCK = new Set([
  "6016 InvalidTtl",
  "6026 NotExpired",
  "6043 AttestationStale",
  "6044 AttestationFromFuture",
]);
const CHANGED_BEFORE =
  /twice|two |second .* in one transaction|behind a cancellation|before it|at once/;

describe("of everything else that the program refuses, names a rule that belongs to the refusal", () => {
  const others = REFUSED_SETTLEMENTS.filter(({ rule }) => rule === undefined);
  test.each(others.map((each) => [`${each.refusal}: ${each.of}`, each] as const))(
    "%s",
    (_, { ledger: begin, instructions, signers = [s.stranger], refusal, of }) => {
      const ledger = begin();
      const { rule } = verdicts(ledger, instructions(ledger), signers);
      const mayPass =
        NOT_JUDGED.has(refusal) || BY_THE_CLOCK.has(refusal) || CHANGED_BEFORE.test(of);
      if (rule !== undefined || !mayPass)
        expect(RULES_OF[refusal] ?? []).toContainEqual(rule as SettlementRule);
    },
  );
});

describe("finds no fault in instructions that the program accepts", () => {
  test.each<
    readonly [
      string,
      () => TestLedger,
      ReadonlyArray<Instruction>,
      readonly [Wallet, ...ReadonlyArray<Wallet>],
    ]
  >([
    ["a release", s.escrowLedger, [attest, release], [s.stranger]],
    ["a partial release", s.escrowLedger, [attestPart(2n), release], [s.stranger]],
    [
      "a capture, and the close that comes behind it",
      s.sessionLedger,
      [...captured(2n, 1), close],
      [s.agent],
    ],
    ["a session's release", capturedLedger, released(3_000_000n, 4), [s.stranger]],
    [
      "a session's release with the refund of its rest and the rent",
      capturedLedger,
      [...released(3_000_000n, 4), refund, rent],
      [s.stranger],
    ],
    [
      "a cancellation with the refund and the rent",
      s.escrowLedger,
      [cancel, refund, rent],
      [s.merchant],
    ],
    [
      "a release to a till that the same transaction makes",
      () => removed(s.merchantTokens, s.escrowLedger()),
      [...madeTill(), attest, s.releaseInstruction({ merchantFallbackAccount: TILL })],
      [s.stranger],
    ],
    ["a refund of a closed session", () => at(CLOSES_AT, closedLedger()), [refund], [s.stranger]],
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
      "a rotation and a release by the key that the escrow records",
      s.escrowLedger,
      [rotate(newKey), attest, release],
      [s.merchant],
    ],
    [
      "a rotation that revokes, an escrow made after it, and its release by the new key",
      s.merchantLedger,
      [
        rotate(newKey, true),
        s.createInstruction({ attestor: newKey.address }),
        s.attestInstruction({ terms: s.termsWith({ attestor: newKey.address }) }, newKey),
        release,
      ],
      [s.merchant, s.agent],
    ],
    [
      "a cancellation in the last second before expiry",
      () => at(EXPIRY - 1n),
      [cancel],
      [s.merchant],
    ],
    ["a cancellation by a suspended merchant", suspended, [cancel], [s.merchant]],
    [
      "archiving in the first second that allows it",
      () => at(ARCHIVABLE, settled()),
      [s.archiveInstruction(settled())],
      [s.stranger],
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
      "a fallback account whose delegate the same transaction revokes",
      () => {
        const ledger = givenAway(s.agent, s.agentTokens, at(EXPIRY));
        putTokenAccount(ledger, s.agent.address, s.mint, 0n, nowhere);
        ledger.do([approve(nowhere, s.stranger.address, s.agent.address, 1n)], [s.agent]);
        return ledger;
      },
      [revoke(nowhere, s.agent.address), s.refundInstruction({ agentFallbackAccount: nowhere })],
      [s.agent],
    ],
    [
      "a release of a suspended merchant's earlier escrow",
      suspended,
      [attest, release],
      [s.stranger],
    ],
    [
      "another escrow's attestation before the fit one",
      s.escrowLedger,
      [s.attestInstruction({ terms: s.hashOf(9) }), attest, release],
      [s.stranger],
    ],
    ["an attestation of 300 s", () => at(s.START + 300n), [attest, release], [s.stranger]],
  ])("%s", (_, ledger, instructions, signers) => {
    const verdict = verdicts(ledger(), instructions, signers);
    expect(verdict).toMatchObject({ rule: undefined, refusal: undefined });
  });
});

test("leaves cases within the clock's margin to the simulation", () => {
  const stale = verdicts(at(s.START + 305n), [attest, release], [s.stranger]);
  expect(stale).toMatchObject({ rule: undefined, refusal: "6043 AttestationStale" });
  const early = verdicts(at(EXPIRY - 10n), [refund], [s.stranger]);
  expect(early).toMatchObject({ rule: undefined, refusal: "6026 NotExpired" });
  const ledger = at(ARCHIVABLE - 10n, settled());
  const whole = verdicts(ledger, [s.archiveInstruction(ledger)], [s.stranger]);
  expect(whole).toMatchObject({ rule: undefined, refusal: "6034 NotArchivable" });
});

test("leaves accounts that the ledger does not show yet to the simulation", () => {
  const absent = verdicts(s.merchantLedger(), [attest, release], [s.stranger]);
  expect(absent).toMatchObject({ rule: undefined, refusal: "6019 WrongEscrow" });
});

test("an attestation whose signature covers other bytes than its message is refused", () => {
  const message = attestationMessage(s.CLAIM);
  const forged = ed25519Instruction({
    publicKey: s.attestor.address,
    signature: s.stranger.sign(message),
    message,
  });
  const verdict = verdicts(s.escrowLedger(), [forged, release], [s.stranger]);
  expect(verdict.rule).toBe("attestation_signature_invalid");
  expect(verdict.index).toBe(1);
});
