import { expect, test } from "bun:test";
import { Effect } from "effect";
import type { Address } from "../../../core/domain/address.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { type Instruction, writableSigner } from "../../../core/domain/ledger/instruction.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import { SYSTEM_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { voucherMessage } from "../../../core/protocol/instructions/voucher.ts";
import type { FinishedCall } from "../../../core/use-cases/escrow/prepare/finish-call.ts";
import { preflightEscrow } from "../../../core/use-cases/escrow/prepare/preflight-escrow.ts";
import { prepareAttestation } from "../../../core/use-cases/escrow/prepare/prepare-attestation.ts";
import { prepareEscrow } from "../../../core/use-cases/escrow/prepare/prepare-escrow.ts";
import {
  prepareCapture,
  prepareRelease,
} from "../../../core/use-cases/escrow/prepare/prepare-payment.ts";
import {
  prepareArchive,
  prepareCancel,
  prepareClose,
  prepareRefund,
  prepareRent,
} from "../../../core/use-cases/escrow/prepare/prepare-return.ts";
import { onLedger, sendTransaction } from "../fixture/prepared-ledger.ts";
import { type RandomChoice, randomChoice, situations } from "../fixture/random-choice.ts";
import * as s from "../fixture/settlement.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { tokenBalance } from "../fixture/token-account.ts";
import { wallet } from "../fixture/wallet.ts";

const WALLETS = [s.agent, s.merchant, s.stranger];
const MIB = 1_048_576;
const WEEK = 604_800n;

/** The stranger sends and pays for whatever anyone may. */
const SENDING = { payer: s.stranger.address, wantsTransaction: true };

const lamports = (ledger: TestLedger, address: Address) => ledger.account(address).lamports;

/** The result of a use case. @throws Error when it fails. */
const given = <A extends object>(result: A): Exclude<A, { readonly _tag: string }> => {
  if ("_tag" in result) throw new Error(Bun.inspect(result));
  return result as Exclude<A, { readonly _tag: string }>;
};

/** Lands a call's transaction and what must come before it; the fee. @throws Error when it has none or is refused. */
const land = (
  ledger: TestLedger,
  { operation, before, transaction, cost }: FinishedCall,
): bigint => {
  for (const each of [...(before === null ? [] : [before.transaction]), transaction]) {
    if (each === null) throw new Error("no transaction");
    const refusal = sendTransaction(ledger, each, WALLETS);
    if (refusal !== undefined) throw new Error(`${operation}: ${refusal}`);
  }
  return cost.fee;
};

/** A claim that the attestor signs, and with it the session key where the escrow is a session. */
const signedClaim = (
  ledger: TestLedger,
  claim: { readonly total: bigint; readonly deliveries: number; readonly final: boolean },
) => {
  const { total, deliveries, final } = claim;
  const asked = { proofHash: s.PROOF, amount: total.toString(), deliveries, final };
  const prepared = given(onLedger(ledger, prepareAttestation(s.escrow, asked)));
  const isSession = s.readEscrow(ledger).sessionKey !== null;
  const orders = s.hashOf(0x33);
  const message = voucherMessage({
    domain: prepared.domain,
    terms: prepared.terms,
    orders,
    total,
    count: deliveries,
    isClosing: final,
  });
  const voucher = {
    orders,
    total_stroops: total.toString(),
    count: deliveries,
    closing: final,
    signature: encodeBase64(s.sessionKey.sign(message)),
  };
  return {
    proofHash: s.PROOF,
    timestamp: formatUnixTime(prepared.timestamp),
    amount: total.toString(),
    deliveries,
    attestationSignature: encodeBase64(s.attestor.sign(prepared.message)),
    ...(isSession ? { voucher } : {}),
  };
};

const WAYS = ["release", "partial", "refund", "cancel"] as const;

const settle = (
  ledger: TestLedger,
  choice: RandomChoice,
  way: (typeof WAYS)[number] = choice.of(...WAYS),
  bare = false,
): FinishedCall => {
  const sending = { ...SENDING, bare };
  const { released, deliveries, closesAt, expiresAt } = s.readEscrow(ledger);
  if (way === "cancel") return given(onLedger(ledger, prepareCancel(s.escrow, sending)));
  if (way === "refund") {
    ledger.time = (closesAt ?? expiresAt) + BigInt(choice.below(1000));
    return given(onLedger(ledger, prepareRefund(s.escrow, sending)));
  }
  const left = s.AMOUNT - released;
  const total =
    way === "partial" && left > 1n
      ? released + 1n + BigInt(choice.below(Number(left) - 1))
      : s.AMOUNT;
  const claim = signedClaim(ledger, { total, deliveries: Math.max(1, deliveries), final: true });
  ledger.time += BigInt(choice.below(300));
  return given(onLedger(ledger, prepareRelease(s.escrow, { ...sending, ...claim })));
};

/** Captures a part of a session, some of the time; the fee that the stranger paid. */
const capture = (ledger: TestLedger, choice: RandomChoice): bigint => {
  const { released, deliveries } = s.readEscrow(ledger);
  const left = s.AMOUNT - released;
  if (left === 0n || choice.oneIn(3)) return 0n;
  const total = released + 1n + BigInt(choice.below(Number(left)));
  const claim = signedClaim(ledger, { total, deliveries: deliveries + 1, final: false });
  const call = given(onLedger(ledger, prepareCapture(s.escrow, { ...SENDING, ...claim })));
  const paid = tokenBalance(ledger, s.merchantTokens) ?? 0n;
  const fee = land(ledger, call);
  expect(tokenBalance(ledger, s.merchantTokens)).toBe(paid + total - released);
  expect(s.readEscrow(ledger)).toMatchObject({ state: "Pending", released: total });
  return fee;
};

test("a payment by an attestation of the other kind is told apart from one that nobody signed", () => {
  const ledger = s.sessionLedger();
  const of = (final: boolean) => signedClaim(ledger, { total: 7n, deliveries: 1, final });
  const detailOf = (result: object): unknown =>
    "faults" in result ? (result.faults as ReadonlyArray<object>)[0] : result;
  const field = "attestationSignature";
  expect(detailOf(onLedger(ledger, prepareCapture(s.escrow, of(true))))).toEqual({
    field,
    detail: "is of a final attestation, and a capture takes none: release the escrow with it",
  });
  expect(detailOf(onLedger(ledger, prepareRelease(s.escrow, of(false))))).toEqual({
    field,
    detail: "is of an attestation that is not final, and a release takes only a final one",
  });
  const attestationSignature = encodeBase64(s.stranger.sign(new Uint8Array(128)));
  const forged = { ...of(false), attestationSignature };
  expect(detailOf(onLedger(ledger, prepareCapture(s.escrow, forged)))).toEqual({
    field,
    detail: "does not verify under the escrow's attestor over its claim",
  });
});

/**
 * What is left after a settlement comes home by calls of its own: the agent's rest, then the rent. The fees of both.
 */
const bringHome = (ledger: TestLedger, lastBytes?: Uint8Array): bigint => {
  const next = (call: FinishedCall | { readonly _tag: string }): bigint => {
    if (!("_tag" in call)) return land(ledger, call);
    expect([call._tag, "rule" in call && call.rule]).toEqual(["WrongState", "nothing_left"]);
    return 0n;
  };
  return (
    next(onLedger(ledger, prepareRefund(s.escrow, SENDING), lastBytes)) +
    next(onLedger(ledger, prepareRent(s.escrow, SENDING), lastBytes))
  );
};

const COUNT = situations(40);

test(`in ${COUNT} escrow lives with prepared transactions alone, the announced costs are the lamports that move`, () => {
  for (let seed = 0; seed < COUNT; seed++) {
    const choice = randomChoice(seed);
    const ledger = s.merchantLedger();
    const payer = choice.of(s.agent, s.stranger).address;
    const isStrangers = payer === s.stranger.address;
    const isSession = choice.oneIn(2);
    const other = { agentOwner: s.agent.address, merchant: s.merchant.address, mint: s.mint };
    const terms = {
      amount: s.AMOUNT.toString(),
      ttlSeconds: s.TTL_SECONDS,
      taskHash: s.TASK,
      sessionKey: isSession ? s.sessionKey.address : undefined,
      expiresAt: choice.oneIn(2) ? formatUnixTime(ledger.time + BigInt(s.TTL_SECONDS)) : undefined,
    };
    if (choice.oneIn(4))
      ledger.set({ ...ledger.account(s.escrow), lamports: BigInt(choice.below(6_000_000)) });
    const prepare = Effect.flatMap(prepareEscrow({ ...other, ...terms, payer }), (each) =>
      preflightEscrow(each, true),
    );
    const before = lamports(ledger, payer);
    const agentHad = tokenBalance(ledger, s.agentTokens) ?? 0n;
    const merchantHad = tokenBalance(ledger, s.merchantTokens) ?? 0n;
    const { call, preflight } = given(onLedger(ledger, prepare));
    if (call === null) throw new Error("no call");
    expect(preflight.ready).toBe(true);
    land(ledger, call);
    const { cost } = call;
    const deposits = cost.deposits.reduce((sum, each) => sum + each.lamports, 0n);
    expect(before - lamports(ledger, payer)).toBe(cost.fee + deposits);

    // The stranger captures, settles, brings home and archives, and may be the rent payer too.
    const atSettlement = lamports(ledger, payer);
    let fees = 0n;
    if (isSession) {
      for (let n = 0; n < 3; n++) fees += capture(ledger, choice);
      if (choice.oneIn(3))
        fees += land(ledger, given(onLedger(ledger, prepareClose(s.escrow, SENDING))));
    }
    fees += land(ledger, settle(ledger, choice, undefined, choice.oneIn(3)));
    const { released } = s.readEscrow(ledger);
    const isArchivedFirst = choice.oneIn(4);
    if (!isArchivedFirst) fees += bringHome(ledger);
    const lastBytes = ledger.account(s.escrow).data;
    ledger.time += WEEK;
    fees += land(ledger, given(onLedger(ledger, prepareArchive(s.escrow, SENDING))));
    if (isArchivedFirst) fees += bringHome(ledger, lastBytes);
    expect([seed, lamports(ledger, payer) - atSettlement]).toEqual([
      seed,
      cost.returnedAtSettlement + cost.returnedAtArchiving - (isStrangers ? fees : 0n),
    ]);
    expect(lamports(ledger, s.escrow)).toBe(cost.kept);
    expect(tokenBalance(ledger, s.vault)).toBeUndefined();
    expect(tokenBalance(ledger, s.agentTokens)).toBe(agentHad - released);
    expect(tokenBalance(ledger, s.merchantTokens)).toBe(merchantHad + released);
  }
});

test("a settlement returns the agent's rest and the rent itself as far as they fit, and a bare one leaves both", () => {
  for (const way of WAYS)
    for (const bare of [false, true]) {
      const ledger = s.sessionLedger();
      const had = lamports(ledger, s.agent.address);
      const call = settle(ledger, randomChoice(1), way, bare);
      land(ledger, call);
      const closes = !bare || way === "release" || way === "refund";
      expect([way, bare, tokenBalance(ledger, s.vault) === undefined]).toEqual([way, bare, closes]);
      expect([way, bare, lamports(ledger, s.agent.address) - had]).toEqual([
        way,
        bare,
        // The release of a session in part has no room for the rent.
        bare || way === "partial" ? 0n : call.cost.returnedAtSettlement,
      ]);
    }
});

test("with less than a minute left a settlement goes alone", () => {
  const ledger = s.escrowLedger();
  const cancel = () => given(onLedger(ledger, prepareCancel(s.escrow, SENDING))).instructions;
  ledger.time = s.START + BigInt(s.TTL_SECONDS) - 60n;
  expect(cancel()).toHaveLength(3);
  ledger.time += 1n;
  expect(cancel()).toHaveLength(1);
});

/** System Allocate: u32 LE 8, space u64 LE (Agave `system_instruction.rs`). */
const allocate = (account: Address, space: number): Instruction => ({
  programAddress: SYSTEM_PROGRAM,
  accounts: [writableSigner(account)],
  data: fieldWriter(12).u32(8).u64(BigInt(space)).done(),
});

test.each(WAYS.flatMap((way) => [1, 10].map((size) => [way, size] as const)))(
  "a %s lands, and archiving after it, although the sponsor has grown its account to %i MiB",
  (way, size) => {
    const sponsor = wallet("sponsor");
    const ledger = s.merchantLedger();
    ledger.fund(sponsor.address, 100_000_000_000n);
    ledger.do([s.createInstruction({ payer: sponsor.address })], [sponsor, s.agent]);
    // The payee's account has to be made again, which costs the most units.
    for (const address of [s.agentTokens, s.merchantTokens])
      ledger.set({ ...ledger.account(address), lamports: 0n, data: new Uint8Array() });
    ledger.do([allocate(sponsor.address, size * MIB)], [s.stranger, sponsor]);
    expect(ledger.account(sponsor.address).data).toHaveLength(size * MIB);

    land(ledger, settle(ledger, randomChoice(size), way));
    bringHome(ledger);
    expect(tokenBalance(ledger, s.vault)).toBeUndefined();
    ledger.time += WEEK;
    land(ledger, given(onLedger(ledger, prepareArchive(s.escrow, SENDING))));
  },
);
