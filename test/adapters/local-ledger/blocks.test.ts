import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Base64EncodedWireTransaction, Signature, Slot } from "@solana/kit";
import { transferLamports } from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { LOCAL_USDC_MINT, localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { signedTransaction } from "../../../adapters/local-ledger/genesis/signed-transaction.ts";
import { manualTime } from "../../../adapters/local-ledger/runtime/time/ledger-time.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { SYSTEM_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { call, startLedger } from "./ledger-fixture.ts";

const time = manualTime(Date.now());
const { rpc, url, stop, ledger } = startLedger({ time });
afterAll(stop);

const payer = localKey("a payer of blocks");
const to = localKey("paid in a block").address;
const version0 = { maxSupportedTransactionVersion: 0 } as const;

/** The slot of the block under test, and what it holds: two transfers and one token airdrop. */
let slot: Slot;
const sent: Array<Signature> = [];
const transfer = (lamports: bigint): Base64EncodedWireTransaction => {
  const { blockhash } = ledger.latestBlockhash();
  const instructions = [transferLamports(payer.address, to, lamports)];
  return encodeBase64(
    signedTransaction({ payer, instructions, blockhash }),
  ) as Base64EncodedWireTransaction;
};

beforeAll(async () => {
  await call(url, "requestAirdrop", payer.address, 10_000_000_000, { commitment: "processed" });
  time.advance(400);
  slot = await rpc.getSlot({ commitment: "processed" }).send();
  for (const lamports of [1_000_000n, 10n ** 15n])
    sent.push(
      await rpc
        .sendTransaction(transfer(lamports), { encoding: "base64", skipPreflight: true })
        .send(),
    );
  const { result } = await call(url, "requestTokenAirdrop", to, 42, { commitment: "processed" });
  sent.push(result as Signature);
  time.advance(400);
});

describe("getBlock", () => {
  test("holds its transactions in the order they landed, as getTransaction shows each", async () => {
    const block = await rpc.getBlock(slot, version0).send();
    expect(block?.transactions).toHaveLength(3);
    for (const [place, signature] of sent.entries()) {
      const single = await rpc.getTransaction(signature, { ...version0, encoding: "json" }).send();
      const { slot: landed, blockTime, ...shown } = single ?? {};
      expect(block?.transactions[place] as unknown).toEqual(shown);
      expect([landed, blockTime]).toEqual([slot, block?.blockTime ?? null]);
    }
    expect(block?.transactions.map(({ meta }) => meta?.err)).toEqual([
      null,
      { InstructionError: [0n, { Custom: 1n }] } as never,
      null,
    ]);
  });

  test("names itself and its parent, and its hash is valid as a transaction's blockhash", async () => {
    const block = await rpc.getBlock(slot, version0).send();
    expect(block).toMatchObject({ parentSlot: slot - 1n, blockHeight: slot, rewards: [] });
    expect(block?.blockTime).toBe((await rpc.getBlockTime(slot).send()) as never);
    const parent = await rpc.getBlock(slot - 1n, version0).send();
    expect(block?.previousBlockhash).toBe(parent?.blockhash as never);
    const { value } = await rpc.getLatestBlockhash().send();
    expect(block?.blockhash).toBe(value.blockhash);
    expect((await rpc.isBlockhashValid(value.blockhash).send()).value).toBe(true);
  });

  test("every detail has the fields that Agave gives it, and no other", async () => {
    const fields = async (options: object) => {
      const { result } = await call(url, "getBlock", Number(slot), { ...version0, ...options });
      return Object.keys(result as object).toSorted();
    };
    const always = ["blockHeight", "blockTime", "blockhash", "parentSlot", "previousBlockhash"];
    expect(await fields({})).toEqual([...always, "rewards", "transactions"].toSorted());
    expect(await fields({ rewards: false })).toEqual([...always, "transactions"].toSorted());
    expect(await fields({ transactionDetails: "none" })).toEqual([...always, "rewards"].toSorted());
    expect(await fields({ transactionDetails: "signatures", rewards: false })).toEqual(
      [...always, "signatures"].toSorted(),
    );
  });

  test("signatures alone", async () => {
    const block = await rpc
      .getBlock(slot, { transactionDetails: "signatures", rewards: false })
      .send();
    expect(block?.signatures as ReadonlyArray<string>).toEqual(sent);
  });

  test("accounts alone, with their part of the meta", async () => {
    const options = { ...version0, transactionDetails: "accounts" } as const;
    const block = await rpc.getBlock(slot, options).send();
    const [first, , airdrop] = block?.transactions ?? [];
    expect(Object.keys(first ?? {}).toSorted()).toEqual(["meta", "transaction", "version"]);
    expect(Object.keys(first?.meta ?? {}).toSorted()).toEqual([
      "err",
      "fee",
      "postBalances",
      "postTokenBalances",
      "preBalances",
      "preTokenBalances",
      "rewards",
      "status",
    ]);
    expect(first?.transaction.signatures as ReadonlyArray<string>).toEqual([sent[0] ?? ""]);
    expect(first?.transaction.accountKeys as unknown).toEqual([
      { pubkey: payer.address, writable: true, signer: true, source: "transaction" },
      { pubkey: to, writable: true, signer: false, source: "transaction" },
      { pubkey: SYSTEM_PROGRAM, writable: false, signer: false, source: "transaction" },
    ]);
    expect(airdrop?.meta?.postTokenBalances?.[0]).toMatchObject({
      mint: LOCAL_USDC_MINT,
      owner: to,
      uiTokenAmount: { amount: "42", decimals: 6 },
    });
    const bare = await rpc.getBlock(slot, { ...options, rewards: false }).send();
    expect(bare?.transactions[0]?.meta).not.toHaveProperty("rewards");
  });

  test("every encoding of a transaction", async () => {
    const first = async (encoding: string) => {
      const { result } = await call(url, "getBlock", Number(slot), { ...version0, encoding });
      const [transaction] = (result as { transactions: Array<{ transaction: unknown }> })
        .transactions;
      return transaction?.transaction;
    };
    const [base64, name] = (await first("base64")) as [string, string];
    expect(name).toBe("base64");
    const { result } = await call(url, "getTransaction", sent[0], {
      ...version0,
      encoding: "base64",
    });
    expect(result).toMatchObject({ transaction: [base64, "base64"] });
    const [base58] = (await first("base58")) as [string];
    expect(await first("binary")).toBe(base58);
    const parsed = (await first("jsonParsed")) as { message: Record<string, unknown> };
    expect(Object.keys(parsed.message).toSorted()).toEqual([
      "accountKeys",
      "addressTableLookups",
      "instructions",
      "recentBlockhash",
    ]);
  });

  test("jsonParsed lists loaded accounts once, among the others, as Agave does", async () => {
    const options = { ...version0, encoding: "jsonParsed" } as const;
    const single = await call(url, "getTransaction", sent[2], options);
    const { meta } = single.result as { meta: object };
    expect(meta).not.toHaveProperty("loadedAddresses");
    const block = await rpc.getBlock(slot, options).send();
    expect(block?.transactions[2]?.meta?.innerInstructions).toHaveLength(1);
  });

  test("a block that shows transactions needs maxSupportedTransactionVersion", async () => {
    const refused = await call(url, "getBlock", Number(slot));
    expect(refused.error).toMatchObject({
      code: -32015,
      message: expect.stringContaining('"maxSupportedTransactionVersion": 0'),
    });
    for (const transactionDetails of ["signatures", "none"])
      expect(
        (await call(url, "getBlock", Number(slot), { transactionDetails })).error,
      ).toBeUndefined();
  });

  test("an empty block, and the first one", async () => {
    const empty = await rpc.getBlock(slot - 30n).send();
    expect(empty?.transactions).toEqual([]);
    expect(await rpc.getBlock(0n).send()).toMatchObject({
      parentSlot: 0n,
      blockHeight: 0n,
      previousBlockhash: SYSTEM_PROGRAM,
      transactions: [],
    });
  });

  test("a block of the current slot is not available", async () => {
    const current = Number(await rpc.getSlot({ commitment: "processed" }).send());
    for (const of of [current, current + 1, Number.MAX_SAFE_INTEGER])
      expect((await call(url, "getBlock", of)).error).toEqual({
        code: -32004,
        message: `Block not available for slot ${of}`,
      });
    const options = { transactionDetails: "none" };
    expect((await call(url, "getBlock", current - 1, options)).error).toBeUndefined();
  });
});

describe("lists of blocks", () => {
  test("hold every finished slot, both ends included", async () => {
    const newest = await rpc.getSlot().send();
    expect(await rpc.getBlocks(newest - 2n).send()).toEqual([newest - 2n, newest - 1n, newest]);
    expect(await rpc.getBlocks(3n, 5n).send()).toEqual([3n, 4n, 5n]);
    expect(await rpc.getBlocks(newest, newest + 10n).send()).toEqual([newest]);
    expect(await rpc.getBlocks(newest + 1n).send()).toEqual([]);
    expect(await rpc.getBlocks(5n, 3n).send()).toEqual([]);
    expect(await rpc.getBlocks(0n, 0n).send()).toEqual([0n]);
    expect(await rpc.getBlocksWithLimit(3n, 2).send()).toEqual([3n, 4n]);
    expect(await rpc.getBlocksWithLimit(newest, 5).send()).toEqual([newest]);
    expect(await rpc.getBlocksWithLimit(newest + 1n, 5).send()).toEqual([]);
    expect(await rpc.getBlocksWithLimit(3n, 0).send()).toEqual([]);
  });

  test("the configuration may be given instead of the last slot", async () => {
    const newest = Number(await rpc.getSlot().send());
    const { result } = await call(url, "getBlocks", newest, { commitment: "confirmed" });
    expect(result).toEqual([newest]);
    const far = { minContextSlot: newest + 1 };
    for (const [method, ...params] of [
      ["getBlocks", newest, far],
      ["getBlocks", newest, null, far],
      ["getBlocksWithLimit", newest, 1, far],
    ] as const)
      expect((await call(url, method, ...params)).error).toMatchObject({
        code: -32016,
        data: { contextSlot: newest },
      });
  });

  test("a range of more than 500,000 slots is refused", async () => {
    time.advance(400 * 500_001);
    const newest = Number(await rpc.getSlot().send());
    const from = newest - 500_000;
    expect((await call(url, "getBlocks", from - 1, newest)).error).toEqual({
      code: -32602,
      message: "Slot range too large; max 500000",
    });
    const { result } = await call(url, "getBlocks", from, newest);
    expect(result).toHaveLength(500_001);
    // Without an end the range is the start and the 500,000 slots after it.
    expect((await call(url, "getBlocks", from - 1)).result).toHaveLength(500_001);
  });
});
