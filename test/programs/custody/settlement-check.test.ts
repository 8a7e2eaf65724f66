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
  cancel,
  givenAway,
  settled,
} from "../fixture/settlement-attempts.ts";

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
    const rules = ruled.flatMap(({ rule = [] }) => rule);
    expect(new Set([...rules, ...more])).toEqual(new Set(SETTLEMENT_RULES));
  });
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
