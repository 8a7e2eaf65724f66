import { expect, test } from "bun:test";
import { Effect } from "effect";
import { type Address, addressFromBytes } from "../../../core/domain/address.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import { encodeMerchantAccount } from "../../../core/protocol/accounts/merchant-account.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import { archiveEscrowInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import {
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { feePayerFault } from "../../../core/protocol/rules/lamport-rules.ts";
import { preflightEscrow } from "../../../core/use-cases/escrow/prepare/preflight-escrow.ts";
import { prepareEscrow } from "../../../core/use-cases/escrow/prepare/prepare-escrow.ts";
import { precheck } from "../fixture/precheck.ts";
import { onLedger, sendTransaction } from "../fixture/prepared-ledger.ts";
import { type RandomChoice, randomChoice, situations } from "../fixture/random-choice.ts";
import * as s from "../fixture/settlement.ts";
import { type TestLedger } from "../fixture/test-ledger.ts";
import { freezeToken, putMint, putTokenAccount } from "../fixture/token-account.ts";
import { setAuthority } from "../fixture/token-instructions.ts";
import { type Wallet, wallet } from "../fixture/wallet.ts";

const TOKEN_2022 = addressFromBytes(
  Uint8Array.from(
    Buffer.from("06ddf6e1ee758fde18425dbce46ccddab61afc4d83b90d27febdf928d8a18bfc", "hex"),
  ),
);
const WALLETS = [s.agent, s.merchant, s.stranger];
const RENT = { minimumBalance: (bytes: number) => BigInt(128 + bytes) * 6960n };
/** The deposits of creating the escrow when neither account exists: rent of escrow and vault. */
const DEPOSITS = RENT.minimumBalance(368) + RENT.minimumBalance(165);

const setLamports = (ledger: TestLedger, address: Address, lamports: bigint) =>
  ledger.set({ ...ledger.account(address), lamports });

const disturbMerchant = (ledger: TestLedger, choice: RandomChoice): void => {
  const merchant = s.readMerchant(ledger);
  const put = (changed: Partial<typeof merchant>) =>
    ledger.put(
      s.merchantPda,
      s.deployment.attestorProgram,
      encodeMerchantAccount({ ...merchant, ...changed }),
    );
  switch (choice.below(24)) {
    case 0:
      return put({ status: "Suspended" });
    case 1:
      return ledger.set({
        ...ledger.account(s.merchantPda),
        owner: SYSTEM_PROGRAM,
        data: new Uint8Array(),
      });
    case 2:
      // Of small order: the point with y = 1.
      return put({ attestor: addressFromBytes(Uint8Array.of(1, ...new Uint8Array(31))) });
  }
};

const disturbTokens = (ledger: TestLedger, choice: RandomChoice): void => {
  switch (choice.below(32)) {
    case 0:
      return void putTokenAccount(ledger, s.agent.address, s.mint, s.AMOUNT - 1n);
    case 1:
      return void putTokenAccount(ledger, s.agent.address, s.mint, s.AMOUNT);
    case 2:
      return freezeToken(ledger, s.agentTokens);
    case 3:
      return void ledger.do(
        [setAuthority(s.agentTokens, "owner", s.stranger.address, s.agent.address)],
        [s.agent],
      );
    case 4:
      return ledger.set({
        ...ledger.account(s.agentTokens),
        lamports: 0n,
        data: new Uint8Array(),
        owner: SYSTEM_PROGRAM,
      });
    case 5:
      return ledger.put(s.mint, TOKEN_2022, ledger.account(s.mint).data);
    case 6:
      return ledger.put(s.mint, TOKEN_PROGRAM, new Uint8Array(82));
    case 7:
      return ledger.put(s.mint, TOKEN_PROGRAM, fieldWriter(90).skip(90).done());
  }
};

const disturbAddresses = (ledger: TestLedger, choice: RandomChoice): void => {
  const stranger = s.stranger.address;
  switch (choice.below(16)) {
    case 0:
      return void ledger.do([s.createInstruction()], [s.agent]);
    case 1: {
      ledger.do([s.createInstruction()], [s.agent]);
      ledger.time += BigInt(s.TTL_SECONDS);
      ledger.do([s.refundInstruction()], [s.stranger]);
      ledger.time += 604_800n;
      const lastBytes = ledger.account(s.escrow).data;
      return void ledger.do(
        [
          archiveEscrowInstruction(s.deployment, {
            escrow: s.escrow,
            rentPayer: s.agent.address,
            lastBytes,
          }),
        ],
        [s.stranger],
      );
    }
    case 2:
      return setLamports(ledger, s.escrow, BigInt(1 + choice.below(6_000_000)));
    case 3:
      return setLamports(ledger, s.vault, BigInt(1 + choice.below(4_000_000)));
    case 4:
    case 5:
      ledger.do(
        [createAssociatedTokenInstruction({ payer: stranger, owner: s.escrow, mint: s.mint })],
        [s.stranger],
      );
      if (choice.oneIn(2)) freezeToken(ledger, s.vault);
      return;
  }
};

const disturbPayer = (
  ledger: TestLedger,
  choice: RandomChoice,
  payer: Wallet,
  fee: bigint,
): void => {
  const { address } = payer;
  const exact = fee + DEPOSITS;
  switch (choice.below(24)) {
    case 0:
      return setLamports(ledger, address, exact);
    case 1:
      return setLamports(ledger, address, exact - 1n);
    case 2:
      return setLamports(ledger, address, exact + 1n);
    case 3:
      return setLamports(ledger, address, exact + RENT.minimumBalance(0));
    case 4:
      return setLamports(ledger, address, exact + RENT.minimumBalance(0) - 1n);
    case 5:
      return setLamports(ledger, address, 0n);
    case 6:
      return setLamports(ledger, address, fee);
    case 7:
      // A durable nonce can pay a fee but cannot make an account.
      return ledger.put(address, SYSTEM_PROGRAM, new Uint8Array(80));
    case 8:
      return ledger.put(address, TOKEN_PROGRAM, new Uint8Array(3));
  }
};

const situation = (seed: number) => {
  const choice = randomChoice(seed);
  const ledger = s.merchantLedger();
  if (choice.oneIn(2)) putMint(ledger, s.mint, s.stranger.address);
  disturbAddresses(ledger, choice);
  disturbMerchant(ledger, choice);
  disturbTokens(ledger, choice);
  const payer = choice.of(s.agent, s.stranger);
  const fee = payer === s.agent ? 5000n : 10_000n;
  disturbPayer(ledger, choice, payer, fee);
  const attestor = choice.of(
    undefined,
    undefined,
    undefined,
    s.attestor.address,
    wallet("another").address,
  );
  const request = {
    agentOwner: s.agent.address,
    merchant: s.merchant.address,
    mint: s.mint,
    amount: s.AMOUNT.toString(),
    ttlSeconds: s.TTL_SECONDS,
    taskHash: s.TASK,
    attestor,
    payer: choice.oneIn(2) && payer === s.agent ? undefined : payer.address,
  };
  return { ledger, payer, fee, request };
};

const COUNT = situations(40);

test(`in ${COUNT} random situations an escrow is ready exactly when relay and ledger accept it`, () => {
  let taken = 0;
  for (let seed = 0; seed < COUNT; seed++) {
    const { ledger, payer, fee, request } = situation(seed);
    const before = ledger.account(payer.address).lamports;
    const result = onLedger(
      ledger,
      Effect.flatMap(prepareEscrow(request), (each) => preflightEscrow(each)),
    );
    if ("_tag" in result) throw new Error(`${seed}: ${result._tag}`);
    const { prepared, preflight } = result;
    const signers: [Wallet, ...Array<Wallet>] = payer === s.agent ? [payer] : [payer, s.agent];
    const { instruction } = prepared;
    const rule = precheck(ledger, [instruction], signers)?.rule;
    const account = ledger.account(payer.address);
    const present = account.lamports === 0n && account.data.length === 0 ? null : account;
    // A key under which nothing verifies is refused at registration. A merchant that has one nevertheless must not be
    // paid.
    const isUsable = !preflight.blockers.some((each) => each.rule === "attestor_unusable");
    const relayed = rule === undefined && feePayerFault(present, RENT, fee) === null;
    const { refusal } = ledger.send([instruction], signers);
    const happens = isUsable && relayed && refusal === undefined;
    expect({
      seed,
      ready: preflight.ready,
      rules: preflight.blockers.map((each) => each.rule),
      refusal,
      rule,
    }).toMatchObject({ ready: happens });
    if (!happens) continue;
    taken += 1;
    const { cost } = preflight;
    const deposits = cost.deposits.reduce((sum, { lamports }) => sum + lamports, 0n);
    expect(before - ledger.account(payer.address).lamports).toBe(cost.fee + deposits);
    const { lamports, data } = ledger.account(s.escrow);
    const spare = lamports - ledger.rentExempt(data.length);
    expect(ledger.account(s.vault).lamports + spare).toBe(cost.returnedAtSettlement);
    expect(lamports - spare).toBe(cost.returnedAtArchiving + cost.kept);
  }
  // Neither side of the comparison may be empty.
  expect(taken).toBeGreaterThan(COUNT / 10);
  expect(taken).toBeLessThan(COUNT * 0.9);
});

test(`in ${COUNT} random situations a prepared transaction is accepted once its payer signs it, or none is prepared`, () => {
  let taken = 0;
  for (let seed = 0; seed < COUNT; seed++) {
    const { ledger, request } = situation(seed);
    const result = onLedger(
      ledger,
      Effect.flatMap(prepareEscrow(request), (each) => preflightEscrow(each, true)),
    );
    if ("_tag" in result) {
      expect(result._tag).toBe("WrongState");
      continue;
    }
    const transaction = result.call?.transaction;
    if (transaction === undefined || transaction === null) throw new Error("no transaction");
    expect(transaction.bytes.length).toBeLessThanOrEqual(1132);
    expect({ seed, refusal: sendTransaction(ledger, transaction, WALLETS) }).toEqual({
      seed,
      refusal: undefined,
    });
    taken += 1;
  }
  expect(taken).toBeGreaterThan(COUNT / 10);
});
