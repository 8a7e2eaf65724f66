import { expect, test } from "bun:test";
import { type Address } from "../../../core/domain/address.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import { termsIn } from "../../../core/protocol/accounts/escrow-account.ts";
import { attestationMessage } from "../../../core/protocol/instructions/attestation.ts";
import { rotateAttestorInstruction } from "../../../core/protocol/instructions/attestor-instructions.ts";
import {
  archiveEscrowInstruction,
  cancelEscrowInstruction,
} from "../../../core/protocol/instructions/custody-instructions.ts";
import {
  prepareArchive,
  prepareCancel,
  prepareRefund,
} from "../../../core/use-cases/escrow/prepare/prepare-return.ts";
import { prepareRelease } from "../../../core/use-cases/escrow/prepare/prepare-payment.ts";
import { disturbAccount, disturbPayer, fallbackOf } from "../fixture/disturbances.ts";
import {
  onLedger,
  type Preparation,
  sendPrepared,
  sendTransaction,
} from "../fixture/prepared-ledger.ts";
import { type RandomChoice, randomChoice, situations } from "../fixture/random-choice.ts";
import * as s from "../fixture/settlement.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { freezeToken } from "../fixture/token-account.ts";
import { type Wallet, wallet } from "../fixture/wallet.ts";

const WALLETS = [s.agent, s.merchant, s.stranger];
const WEEK = 604_800n;
const EXPIRES = s.START + BigInt(s.TTL_SECONDS);

/** An escrow's end: Pending at some second of its life or after it, or settled some time ago. */
const reach = (ledger: TestLedger, choice: RandomChoice): void => {
  switch (choice.below(9)) {
    case 0:
    case 1:
      ledger.time = EXPIRES - BigInt(choice.below(3));
      return;
    case 2:
      ledger.time = EXPIRES + BigInt(choice.below(3));
      return;
    case 3:
    case 4: {
      ledger.do([s.attestInstruction(), s.releaseInstruction()], [s.stranger]);
      ledger.time += WEEK - 1n + BigInt(choice.below(3));
      return;
    }
    case 5: {
      ledger.time = EXPIRES;
      ledger.do([s.refundInstruction()], [s.stranger]);
      ledger.time += WEEK;
      if (choice.oneIn(2)) return;
      const lastBytes = ledger.account(s.escrow).data;
      const target = { escrow: s.escrow, rentPayer: s.agent.address, lastBytes };
      ledger.do([archiveEscrowInstruction(s.deployment, target)], [s.stranger]);
      return;
    }
    default:
      ledger.time = s.START + BigInt(choice.below(s.TTL_SECONDS));
  }
};

type Attempt = {
  readonly name: string;
  readonly prepare: Preparation;
  /** The instructions without a prepare operation, to see what the program does with them. */
  readonly plain: ReadonlyArray<Instruction>;
};

const situation = (seed: number) => {
  const choice = randomChoice(seed);
  const ledger = s.merchantLedger();
  const creator = choice.of(s.agent, s.stranger);
  ledger.do(
    [s.createInstruction({ payer: creator.address })],
    creator === s.agent ? [s.agent] : [creator, s.agent],
  );
  const rentPayer = creator.address;
  const operation = choice.of("release", "partial", "refund", "cancel", "archive");
  if (creator === s.agent) reach(ledger, choice);
  else if (operation !== "archive")
    ledger.time += operation === "refund" ? BigInt(s.TTL_SECONDS) : 60n;
  if (choice.oneIn(12))
    ledger.do(
      [
        rotateAttestorInstruction(s.deployment, {
          merchant: s.merchant.address,
          attestor: wallet("next").address,
          revoke: choice.oneIn(2),
        }),
      ],
      [s.merchant],
    );
  disturbAccount(ledger, choice, s.agentTokens, s.agent);
  disturbAccount(ledger, choice, s.merchantTokens, s.merchant);
  const agentFallbackAccount = fallbackOf(ledger, choice, s.agent);
  const merchantFallbackAccount = fallbackOf(ledger, choice, s.merchant);
  if (choice.oneIn(15) && ledger.account(s.vault).data.length > 0) freezeToken(ledger, s.vault);
  const payer = operation === "cancel" ? s.merchant : choice.of(s.agent, s.stranger);
  disturbPayer(ledger, choice, payer);
  return {
    choice,
    ledger,
    operation,
    payer,
    rentPayer,
    agentFallbackAccount,
    merchantFallbackAccount,
  };
};

const attemptOf = (at: ReturnType<typeof situation>, wantsTransaction: boolean): Attempt => {
  const {
    choice,
    ledger,
    operation,
    payer,
    rentPayer,
    agentFallbackAccount,
    merchantFallbackAccount,
  } = at;
  const sending = { payer: payer.address, wantsTransaction };
  const isAbsent = (tokens: Address) => ledger.account(tokens).data.length === 0;
  const make = (owner: Wallet, tokens: Address) =>
    isAbsent(tokens)
      ? [
          createAssociatedTokenInstruction({
            payer: payer.address,
            owner: owner.address,
            mint: s.mint,
          }),
        ]
      : [];
  const target = { escrow: s.escrow, merchant: s.merchant.address };
  switch (operation) {
    case "refund":
      return {
        name: operation,
        prepare: prepareRefund(s.escrow, { ...sending, agentFallbackAccount }),
        plain: [...make(s.agent, s.agentTokens), s.refundInstruction({ agentFallbackAccount })],
      };
    case "cancel":
      return {
        name: operation,
        prepare: prepareCancel(s.escrow, sending),
        plain: [cancelEscrowInstruction(s.deployment, target)],
      };
    case "archive":
      return {
        name: operation,
        prepare: prepareArchive(s.escrow, sending),
        plain: [
          archiveEscrowInstruction(s.deployment, {
            escrow: s.escrow,
            rentPayer,
            lastBytes: Uint8Array.from(
              { length: 416 },
              (_, i) => ledger.account(s.escrow).data[i] ?? 0,
            ),
          }),
        ],
      };
    case "release":
    case "partial": {
      const timestamp = ledger.time + choice.of(0n, 0n, 0n, 0n, -300n, -301n, 30n, 31n);
      const amount =
        operation === "partial" ? choice.of(1n, s.AMOUNT - 1n, 7n, s.AMOUNT) : undefined;
      const { data } = ledger.account(s.escrow);
      const claim = { terms: termsIn(data), total: amount ?? s.AMOUNT, timestamp };
      const signed = attestationMessage({ ...s.CLAIM, ...claim });
      const signer = choice.oneIn(10) ? wallet("next") : s.attestor;
      const request = {
        ...sending,
        merchantFallbackAccount,
        proofHash: s.PROOF,
        timestamp: formatUnixTime(timestamp),
        amount: amount?.toString(),
        attestationSignature: encodeBase64(signer.sign(signed)),
      };
      const attest = s.attestInstruction(claim, signer);
      const release = s.releaseInstruction({ merchantFallbackAccount });
      return {
        name: operation,
        prepare: prepareRelease(s.escrow, request),
        plain: [...make(s.merchant, s.merchantTokens), attest, release],
      };
    }
  }
};

const COUNT = situations(80);

test(`in ${COUNT} random situations prepare returns instructions exactly when the ledger accepts them`, () => {
  const taken = new Map<string, number>();
  for (let seed = 0; seed < COUNT; seed++) {
    const at = situation(seed);
    const { ledger, payer } = at;
    const isWhole = seed % 2 === 1;
    const attempt = attemptOf(at, isWhole);
    const call = onLedger(ledger, attempt.prepare);
    const before = new Map(
      [payer.address, at.rentPayer, s.escrow].map((address) => [
        address,
        ledger.account(address).lamports,
      ]),
    );
    const moved = (address: Address) =>
      ledger.account(address).lamports - (before.get(address) ?? 0n);
    const where = { seed, operation: attempt.name };
    if ("_tag" in call) {
      const signers: [Wallet, ...Array<Wallet>] =
        at.operation === "cancel" && payer !== s.merchant ? [payer, s.merchant] : [payer];
      // A transaction also costs a priority fee; the instructions alone do not.
      if (isWhole && "rule" in call && call.rule === "payer_cannot_pay") continue;
      const { refusal } = ledger.send(attempt.plain, signers);
      expect({
        ...where,
        rule: "rule" in call ? call.rule : call._tag,
        refused: refusal !== undefined,
      }).toMatchObject({ refused: true });
      continue;
    }
    const { transaction, cost } = call;
    const refusal =
      transaction === null
        ? sendPrepared(ledger, call, payer, WALLETS).refusal
        : sendTransaction(ledger, transaction, WALLETS);
    expect({ ...where, refusal }).toEqual({ ...where, refusal: undefined });
    if (transaction !== null) expect(transaction.bytes.length).toBeLessThanOrEqual(1132);
    taken.set(attempt.name, (taken.get(attempt.name) ?? 0) + 1);
    const deposits = cost.deposits.reduce((sum, { lamports }) => sum + lamports, 0n);
    const isArchive = attempt.name === "archive";
    // The rent comes home with the settlement where nothing kept it out.
    const isReturned =
      ledger.account(s.vault).data.length === 0 &&
      ledger.account(s.escrow).lamports === cost.kept - deposits + cost.returnedAtArchiving;
    const settled = isReturned ? cost.returnedAtSettlement : 0n;
    const returned = isArchive ? cost.returnedAtArchiving : settled;
    const spent = -cost.fee - deposits;
    if (payer.address === at.rentPayer) expect(moved(payer.address)).toBe(spent + returned);
    else {
      expect({ ...where, moved: moved(payer.address) }).toEqual({ ...where, moved: spent });
      expect(moved(at.rentPayer)).toBe(returned);
    }
    const whole = cost.kept - deposits + (isArchive ? 0n : cost.returnedAtArchiving);
    const vaultLamports = ledger.account(s.vault).lamports;
    const held = ledger.account(s.escrow).lamports + vaultLamports;
    expect(held).toBe(isArchive || isReturned ? whole : whole + cost.returnedAtSettlement);
  }
  // Each operation is prepared and refused often enough for the test to be meaningful.
  expect([...taken.keys()].toSorted()).toEqual([
    "archive",
    "cancel",
    "partial",
    "refund",
    "release",
  ]);
  expect([...taken.values()].reduce((sum, count) => sum + count, 0)).toBeLessThan(COUNT * 0.9);
});
