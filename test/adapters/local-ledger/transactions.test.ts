import { afterAll, describe, expect, test } from "bun:test";
import {
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  getTransactionDecoder,
  isSolanaError,
  lamports,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED,
  SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND,
} from "@solana/kit";
import {
  computeUnitLimit,
  mintTokens,
  transferLamports,
} from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { LOCAL_USDC_MINT, localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { manualTime } from "../../../adapters/local-ledger/runtime/time/slots.ts";
import { address, addressToBytes } from "../../../core/domain/address.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { associatedTokenAddress } from "../../../core/protocol/addresses/addresses.ts";
import { ed25519Instruction } from "../../../core/protocol/instructions/ed25519-instruction.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import {
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { encodeTransaction } from "../../arbitraries/wire-transaction.ts";
import { call, sign, startLedger } from "./ledger-fixture.ts";

const time = manualTime(Date.now());
const { rpc, url, stop, ledger } = startLedger({ time });
afterAll(stop);

const funded = async (amount = 10_000_000_000n) => {
  const signer = await generateKeyPairSigner();
  await rpc.requestAirdrop(signer.address, lamports(amount), { commitment: "processed" }).send();
  return signer;
};
const lifetime = async () => (await rpc.getLatestBlockhash().send()).value;
const transfer = (from: string, to: string, amount: bigint) =>
  transferLamports(address(from), address(to), amount);
const memo = (text: string): Instruction => ({
  programAddress: MEMO_PROGRAM,
  accounts: [],
  data: new TextEncoder().encode(text),
});
const base64 = (bytes: ArrayLike<number>) => Buffer.from(bytes).toString("base64");
const balance = async (of: string) =>
  (await rpc.getBalance(of as never, { commitment: "processed" }).send()).value;

const price = (microLamports: bigint): Instruction => {
  const data = Buffer.alloc(9);
  data[0] = 3;
  data.writeBigUInt64LE(microLamports, 1);
  return { programAddress: COMPUTE_BUDGET_PROGRAM, accounts: [], data: new Uint8Array(data) };
};
const height = () => rpc.getBlockHeight({ commitment: "processed" }).send();

describe("sending", () => {
  test("a transaction that fails in the preflight is refused with logs and the program's error", async () => {
    const payer = await funded();
    const to = (await generateKeyPairSigner()).address;
    const signed = await sign(payer, await lifetime(), [transfer(payer.address, to, 10n ** 15n)]);
    const wire = getBase64EncodedWireTransaction(signed);
    const { error } = await call(url, "sendTransaction", wire, { encoding: "base64" });
    expect(error).toMatchObject({
      code: -32002,
      message:
        "Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1",
      data: { err: { InstructionError: [0, { Custom: 1 }] }, accounts: null },
    });
    expect(JSON.stringify(error?.data)).toContain("insufficient lamports");
    const failure = await rpc
      .sendTransaction(wire, { encoding: "base64" })
      .send()
      .catch((cause: unknown) => cause);
    expect(
      isSolanaError(
        failure,
        SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
      ),
    ).toBe(true);
    expect(await balance(payer.address)).toBe(lamports(10_000_000_000n));
  });

  test("without preflight it lands as a failure, pays its fee and is recorded", async () => {
    const payer = await funded();
    const to = (await generateKeyPairSigner()).address;
    const signed = await sign(payer, await lifetime(), [transfer(payer.address, to, 10n ** 15n)]);
    const signature = await rpc
      .sendTransaction(getBase64EncodedWireTransaction(signed), {
        encoding: "base64",
        skipPreflight: true,
      })
      .send();
    const err = { InstructionError: [0, { Custom: 1 }] };
    const processed = await call(url, "getSignatureStatuses", [signature]);
    expect(processed.result).toMatchObject({
      value: [{ err, status: { Err: err }, confirmationStatus: "processed", confirmations: 0 }],
    });
    time.advance(400);
    const finalized = await call(url, "getSignatureStatuses", [signature]);
    expect(finalized.result).toMatchObject({
      value: [{ confirmationStatus: "finalized", confirmations: null }],
    });
    expect(await balance(payer.address)).toBe(lamports(10_000_000_000n - 5000n));
    const { result } = await call(url, "getTransaction", signature, {
      maxSupportedTransactionVersion: 0,
    });
    expect(result).toMatchObject({ meta: { err, fee: 5000 }, version: 0 });
  });

  test("replays and expired blockhashes are refused, in kit's own error codes", async () => {
    const payer = await funded();
    const to = (await generateKeyPairSigner()).address;
    const signed = await sign(payer, await lifetime(), [transfer(payer.address, to, 10n ** 9n)]);
    const wire = getBase64EncodedWireTransaction(signed);
    const send = (skipPreflight: boolean) =>
      rpc.sendTransaction(wire, { encoding: "base64", skipPreflight }).send();
    const causeOf = async () => (await send(false).catch((e: unknown) => e)) as { cause: unknown };
    await send(false);
    expect(
      isSolanaError((await causeOf()).cause, SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED),
    ).toBe(true);
    // Without preflight a node accepts the transaction and drops it.
    expect(await send(true)).toBe(getSignatureFromTransaction(signed));
    expect(await balance(to)).toBe(lamports(10n ** 9n));
    time.advance(151 * 400);
    expect(
      isSolanaError((await causeOf()).cause, SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND),
    ).toBe(true);
    await send(true);
    expect(await balance(to)).toBe(lamports(10n ** 9n));
  });

  test("a blockhash is valid exactly until its last valid block height", async () => {
    const { blockhash, lastValidBlockHeight } = await lifetime();
    const isValid = async () =>
      (await rpc.isBlockhashValid(blockhash, { commitment: "processed" }).send()).value;
    time.advance(400 * Number(lastValidBlockHeight - (await height())));
    expect(await height()).toBe(lastValidBlockHeight);
    expect(await isValid()).toBe(true);
    time.advance(400);
    expect(await isValid()).toBe(false);
  });

  test("a wrong signature is refused, with preflight by its own code", async () => {
    const payer = await funded();
    const signed = await sign(payer, await lifetime(), [memo("signed")]);
    const wire = Buffer.from(getBase64EncodedWireTransaction(signed), "base64");
    wire[10] = (wire[10] ?? 0) ^ 1;
    const sent = await call(url, "sendTransaction", base64(wire), { encoding: "base64" });
    expect(sent.error?.code).toBe(-32003);
    const before = await balance(payer.address);
    await call(url, "sendTransaction", base64(wire), { encoding: "base64", skipPreflight: true });
    expect(await balance(payer.address)).toBe(before);
  });

  test("anything that is not exactly one transaction is refused", async () => {
    const payer = await funded();
    const signed = await sign(payer, await lifetime(), [memo("whole")]);
    const wire = Buffer.from(getBase64EncodedWireTransaction(signed), "base64");
    const longer = Buffer.concat([wire, Uint8Array.of(0)]);
    for (const bytes of [longer, wire.subarray(0, -1), new Uint8Array(200), new Uint8Array(1300)])
      expect(
        (await call(url, "sendTransaction", base64(bytes), { encoding: "base64" })).error?.code,
      ).toBe(-32602);
    expect((await call(url, "sendTransaction", "!", { encoding: "base64" })).error?.code).toBe(
      -32602,
    );
  });

  test("a transaction that names an account twice is accepted, and fails when it runs", async () => {
    const payer = await funded();
    const key = addressToBytes(address(payer.address));
    const wire = encodeTransaction({
      version: 0,
      signatures: [new Uint8Array(64).fill(1)],
      header: [1, 0, 1],
      accounts: [key, key, addressToBytes(MEMO_PROGRAM)],
      blockhash: new Uint8Array(32),
      instructions: [{ program: 2, accounts: [0], data: Uint8Array.of(65) }],
      tables: [],
    });
    const simulated = await call(url, "simulateTransaction", base64(wire), {
      encoding: "base64",
      replaceRecentBlockhash: true,
    });
    expect(simulated.result).toMatchObject({ value: { err: "AccountLoadedTwice" } });
  });

  test("no changed byte can end the process", async () => {
    const payer = await funded();
    const { address: to } = await generateKeyPairSigner();
    const signed = await sign(payer, await lifetime(), [
      transfer(payer.address, to, 10n ** 9n),
      memo("x"),
    ]);
    const wire = Buffer.from(getBase64EncodedWireTransaction(signed), "base64");
    const answers = await Promise.all(
      Array.from({ length: wire.length * 8 }, (_, bit) => {
        const mutant = Buffer.from(wire);
        mutant[bit >> 3] = (mutant[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        return call(url, "simulateTransaction", base64(mutant), {
          encoding: "base64",
          sigVerify: bit % 2 === 0,
        });
      }),
    );
    expect(
      answers.every(({ result, error }) => (result === undefined) !== (error === undefined)),
    ).toBe(true);
    expect(await rpc.getHealth().send()).toBe("ok");
  });
});

describe("fees", () => {
  const attestor = localKey("test-attestor");
  const message = new TextEncoder().encode("delivered");
  const proof = ed25519Instruction({
    publicKey: attestor.address,
    signature: attestor.sign(message),
    message,
  });
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Instruction>]> = [
    ["one signature", []],
    ["an Ed25519 instruction's signature", [proof]],
    ["a priority price on default units", [price(1_000_000n), memo("m")]],
    ["a priority price on a unit limit", [computeUnitLimit(123_457), price(10_001n)]],
  ];
  test.each(cases)(
    "%s: the fee announced, charged and recorded is the same",
    async (_name, extra) => {
      const payer = await funded();
      // A transfer that must fail, so that only the fee is taken.
      const failing = transfer(payer.address, attestor.address, 10n ** 18n);
      const signed = await sign(payer, await lifetime(), [...extra, failing]);
      const told = await call(
        url,
        "getFeeForMessage",
        base64(Uint8Array.from(signed.messageBytes)),
      );
      const signature = await rpc
        .sendTransaction(getBase64EncodedWireTransaction(signed), {
          encoding: "base64",
          skipPreflight: true,
        })
        .send();
      const fee = Number(10_000_000_000n - (await balance(payer.address)));
      expect(told.result).toMatchObject({ value: fee });
      time.advance(400);
      const { result } = await call(url, "getTransaction", signature, {
        maxSupportedTransactionVersion: 0,
      });
      expect(result).toMatchObject({ meta: { fee } });
    },
  );
});

describe("simulating", () => {
  test("shows the accounts after the transaction and keeps nothing", async () => {
    const payer = await funded();
    const { address: to } = await generateKeyPairSigner();
    const signed = await sign(payer, await lifetime(), [transfer(payer.address, to, 10n ** 9n)]);
    const { value } = await rpc
      .simulateTransaction(getBase64EncodedWireTransaction(signed), {
        encoding: "base64",
        innerInstructions: true,
        accounts: { encoding: "base64", addresses: [to, payer.address] },
      })
      .send();
    expect(value.err).toBeNull();
    expect(value.unitsConsumed).toBe(150n);
    expect(value.accounts.map((account) => account?.lamports)).toEqual([
      lamports(10n ** 9n),
      lamports(9n * 10n ** 9n - 5000n),
    ]);
    expect(await balance(to)).toBe(lamports(0n));
  });

  test("replaceRecentBlockhash runs an expired, unsigned transaction", async () => {
    const payer = await funded();
    const old = await lifetime();
    time.advance(200 * 400);
    const signed = await sign(payer, old, [memo("late")]);
    const { messageBytes } = getTransactionDecoder().decode(
      Buffer.from(getBase64EncodedWireTransaction(signed), "base64"),
    );
    const unsigned = Buffer.concat([
      Uint8Array.of(1),
      new Uint8Array(64),
      Uint8Array.from(messageBytes),
    ]);
    const run = (config: object) =>
      call(url, "simulateTransaction", base64(unsigned), { encoding: "base64", ...config });
    expect((await run({})).result).toMatchObject({ value: { err: "BlockhashNotFound" } });
    const replaced = await run({ replaceRecentBlockhash: true });
    expect(replaced.result).toMatchObject({
      value: { err: null, replacementBlockhash: ledger.latestBlockhash() },
    });
    expect((await run({ sigVerify: true, replaceRecentBlockhash: true })).error?.code).toBe(-32602);
    expect((await run({ minContextSlot: 10 ** 9 })).error?.code).toBe(-32016);
  });
});

test("a failing instruction after others is reported by its index", async () => {
  const payer = await funded();
  const mint = LOCAL_USDC_MINT;
  const owner = address(payer.address);
  const signed = await sign(payer, await lifetime(), [
    createAssociatedTokenInstruction({ payer: owner, owner, mint }),
    mintTokens({
      mint,
      account: associatedTokenAddress(owner, mint),
      authority: owner,
      amount: 1n,
    }),
  ]);
  const wire = getBase64EncodedWireTransaction(signed);
  const { error } = await call(url, "sendTransaction", wire, { encoding: "base64" });
  // SPL Token's error 4, OwnerMismatch: the payer is not the mint's authority.
  expect(error?.data).toMatchObject({ err: { InstructionError: [1, { Custom: 4 }] } });
});
