import { expect, test } from "bun:test";
import { Effect } from "effect";
import type { Address } from "../../../core/domain/address.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { type Instruction, writableSigner } from "../../../core/domain/ledger/instruction.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import { SYSTEM_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import {
  prepareArchive,
  prepareCancel,
  prepareRefund,
} from "../../../core/use-cases/escrow/prepare/prepare-return.ts";
import { prepareAttestation } from "../../../core/use-cases/escrow/prepare/prepare-attestation.ts";
import { prepareEscrow } from "../../../core/use-cases/escrow/prepare/prepare-escrow.ts";
import { preflightEscrow } from "../../../core/use-cases/escrow/prepare/preflight-escrow.ts";
import { prepareRelease } from "../../../core/use-cases/escrow/prepare/prepare-release.ts";
import type { FinishedCall } from "../../../core/use-cases/escrow/prepare/finish-call.ts";
import { onLedger, sendTransaction } from "../fixture/prepared-ledger.ts";
import { type RandomChoice, randomChoice, situations } from "../fixture/random-choice.ts";
import * as s from "../fixture/settlement.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { tokenBalance } from "../fixture/token-account.ts";
import { wallet } from "../fixture/wallet.ts";

const WALLETS = [s.agent, s.merchant, s.stranger];
const MIB = 1_048_576;
const WEEK = 604_800n;

const lamports = (ledger: TestLedger, address: Address) => ledger.account(address).lamports;

/** The result of a use case. @throws Error when it fails. */
const given = <A extends object>(result: A): Exclude<A, { readonly _tag: string }> => {
  if ("_tag" in result) throw new Error(Bun.inspect(result));
  return result as Exclude<A, { readonly _tag: string }>;
};

/** Lands a call's transaction. @throws Error when it has none or is refused. */
const land = (ledger: TestLedger, { operation, transaction }: FinishedCall): void => {
  if (transaction === null) throw new Error("no transaction");
  const refusal = sendTransaction(ledger, transaction, WALLETS);
  if (refusal !== undefined) throw new Error(`${operation}: ${refusal}`);
};

const WAYS = ["release", "partial", "refund", "cancel"] as const;

const settle = (
  ledger: TestLedger,
  choice: RandomChoice,
  way: (typeof WAYS)[number] = choice.of(...WAYS),
): FinishedCall => {
  const sending = { payer: s.stranger.address, wantsTransaction: true };
  if (way === "cancel") return given(onLedger(ledger, prepareCancel(s.escrow, sending)));
  if (way === "refund") {
    ledger.time = s.START + BigInt(s.TTL_SECONDS) + BigInt(choice.below(1000));
    return given(onLedger(ledger, prepareRefund(s.escrow, sending)));
  }
  const amount = way === "partial" ? String(1 + choice.below(Number(s.AMOUNT) - 1)) : undefined;
  const claim = { proofHash: s.PROOF, amount };
  const prepared = given(onLedger(ledger, prepareAttestation(s.escrow, claim)));
  const attestationSignature = encodeBase64(s.attestor.sign(prepared.message));
  const timestamp = formatUnixTime(prepared.timestamp);
  ledger.time += BigInt(choice.below(300));
  return given(
    onLedger(
      ledger,
      prepareRelease(s.escrow, { ...sending, ...claim, timestamp, attestationSignature }),
    ),
  );
};

const COUNT = situations(25);

test(`in ${COUNT} escrow lives with prepared transactions alone, the announced costs are the lamports that move`, () => {
  for (let seed = 0; seed < COUNT; seed++) {
    const choice = randomChoice(seed);
    const ledger = s.merchantLedger();
    const payer = choice.of(s.agent, s.stranger).address;
    const other = { agentOwner: s.agent.address, merchant: s.merchant.address, mint: s.mint };
    const terms = { amount: s.AMOUNT.toString(), ttlSeconds: s.TTL_SECONDS, taskHash: s.TASK };
    if (choice.oneIn(4))
      ledger.set({ ...ledger.account(s.escrow), lamports: BigInt(choice.below(5_000_000)) });
    const prepare = Effect.flatMap(prepareEscrow({ ...other, ...terms, payer }), (each) =>
      preflightEscrow(each, true),
    );
    const before = lamports(ledger, payer);
    const { call, preflight } = given(onLedger(ledger, prepare));
    if (call === null) throw new Error("no call");
    expect(preflight.ready).toBe(true);
    land(ledger, call);
    const { cost } = call;
    const deposits = cost.deposits.reduce((sum, each) => sum + each.lamports, 0n);
    expect(before - lamports(ledger, payer)).toBe(cost.fee + deposits);

    // The stranger settles and archives, and may be the rent payer too.
    const atSettlement = lamports(ledger, payer);
    const settled = settle(ledger, choice);
    land(ledger, settled);
    const ownSettling = payer === s.stranger.address ? settled.cost.fee : 0n;
    expect(lamports(ledger, payer) - atSettlement).toBe(cost.returnedAtSettlement - ownSettling);
    expect(tokenBalance(ledger, s.vault)).toBeUndefined();

    ledger.time += WEEK;
    const atArchiving = lamports(ledger, payer);
    const sending = { payer: s.stranger.address, wantsTransaction: true };
    const archived = given(onLedger(ledger, prepareArchive(s.escrow, sending)));
    land(ledger, archived);
    const ownArchiving = payer === s.stranger.address ? archived.cost.fee : 0n;
    expect(lamports(ledger, payer) - atArchiving).toBe(cost.returnedAtArchiving - ownArchiving);
    expect(lamports(ledger, s.escrow)).toBe(cost.kept);
  }
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
    // Each payee's account has to be made again, which costs the most units.
    for (const address of [s.agentTokens, s.merchantTokens])
      ledger.set({ ...ledger.account(address), lamports: 0n, data: new Uint8Array() });
    ledger.do([allocate(sponsor.address, size * MIB)], [s.stranger, sponsor]);
    expect(ledger.account(sponsor.address).data).toHaveLength(size * MIB);

    land(ledger, settle(ledger, randomChoice(size), way));
    expect(tokenBalance(ledger, s.vault)).toBeUndefined();
    ledger.time += WEEK;
    const sending = { payer: s.stranger.address, wantsTransaction: true };
    land(ledger, given(onLedger(ledger, prepareArchive(s.escrow, sending))));
  },
);
