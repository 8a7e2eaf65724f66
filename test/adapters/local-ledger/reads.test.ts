import { afterAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { generateKeyPairSigner, lamports, type Base58EncodedBytes } from "@solana/kit";
import { transferLamports } from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import {
  LOCAL_AUTHORITY,
  LOCAL_FAUCET,
  LOCAL_USDC_MINT,
  localKey,
} from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { tokenHolding } from "../../../adapters/local-ledger/runtime/accounts/token-balance.ts";
import { manualTime } from "../../../adapters/local-ledger/runtime/time/slots.ts";
import { type Address, address, addressToBytes } from "../../../core/domain/address.ts";
import { associatedTokenAddress } from "../../../core/protocol/addresses/addresses.ts";
import {
  CLOCK_SYSVAR,
  COMPUTE_BUDGET_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { call, post, sign, startLedger } from "./ledger-fixture.ts";

const time = manualTime(Date.now());
const { rpc, url, stop, ledger } = startLedger({ time });
afterAll(stop);
const endSlot = () => time.advance(400);
const PROCESSED = { commitment: "processed" } as const;
/** Gives tokens to an owner, which readers at confirmed see. */
const giveTokens = async (owner: string, amount: number | string) => {
  await call(url, "requestTokenAirdrop", owner, amount, PROCESSED);
  endSlot();
};
const programAccounts = (filters: unknown) =>
  call(url, "getProgramAccounts", TOKEN_PROGRAM, { encoding: "base64", filters });

describe("the ledger's description of itself", () => {
  test("health, version, slot, height, epoch and genesis hash agree with kit's types", async () => {
    expect(await rpc.getHealth().send()).toBe("ok");
    expect((await rpc.getVersion().send())["solana-core"]).toMatch(/^\d+\.\d+\.\d+$/);
    const finalized = await rpc.getSlot().send();
    expect(await rpc.getSlot(PROCESSED).send()).toBe(finalized + 1n);
    expect(await rpc.getBlockHeight({ commitment: "confirmed" }).send()).toBe(finalized);
    const epoch = await rpc.getEpochInfo().send();
    expect(epoch.absoluteSlot).toBe(finalized);
    expect(epoch.slotIndex + epoch.epoch * epoch.slotsInEpoch).toBe(finalized);
    expect((await rpc.getGenesisHash().send()) as string).toBe(ledger.genesisHash);
  });

  test("slots and the clock sysvar follow time", async () => {
    const slot = await rpc.getSlot().send();
    time.advance(4000);
    expect(await rpc.getSlot().send()).toBe(slot + 10n);
    const { context, value } = await rpc
      .getAccountInfo(CLOCK_SYSVAR, { encoding: "base64", commitment: "confirmed" })
      .send();
    const clock = Buffer.from(value?.data[0] ?? "", "base64");
    expect(clock.readBigUInt64LE(0)).toBe(context.slot);
    expect(clock.readBigInt64LE(32)).toBe((await rpc.getBlockTime(context.slot).send()) ?? 0n);
    expect(Math.abs(Number(clock.readBigInt64LE(32)) * 1000 - time.nowMs())).toBeLessThan(2000);
  });

  test("a future slot is refused as minContextSlot and has no block time", async () => {
    const far = Number(await rpc.getSlot().send()) + 1000;
    const slot = await call(url, "getSlot", { minContextSlot: far });
    expect(slot.error).toMatchObject({ code: -32016, data: { contextSlot: far - 1000 } });
    expect((await call(url, "getBlockTime", far)).error?.code).toBe(-32004);
  });

  const budget = (...data: ReadonlyArray<number>) => ({
    programAddress: COMPUTE_BUDGET_PROGRAM,
    accounts: [],
    data: Uint8Array.from(data),
  });
  test.each([
    ["is 5000 a signature", (self) => [transferLamports(self, self, 1n)], 5000],
    // 200,000 units at 10,000 micro-lamports each.
    [
      "has the price of the units that it asks for",
      () => [budget(2, 0x40, 0x0d, 3, 0), budget(3, 0x10, 0x27, 0, 0, 0, 0, 0, 0)],
      7000,
    ],
  ] satisfies Array<[string, (self: Address) => Parameters<typeof sign>[2], number]>)(
    "the announced fee of a message %s",
    async (_, asked, value) => {
      const payer = await generateKeyPairSigner();
      const { value: lifetime } = await rpc.getLatestBlockhash().send();
      const { messageBytes } = await sign(payer, lifetime, asked(address(payer.address)));
      const message = Buffer.from(messageBytes).toString("base64");
      expect((await call(url, "getFeeForMessage", message)).result).toMatchObject({ value });
    },
  );

  test("rent equals the runtime's", async () => {
    expect(await rpc.getMinimumBalanceForRentExemption(0n).send()).toBe(lamports(890_880n));
  });
});

describe("accounts", () => {
  test("a reader at confirmed never sees more than its reported slot held", async () => {
    const { address: to } = await generateKeyPairSigner();
    await rpc.requestAirdrop(to, lamports(7_000_000n), PROCESSED).send();
    const now = await rpc.getBalance(to, PROCESSED).send();
    const before = await rpc.getBalance(to, { commitment: "confirmed" }).send();
    expect([now.value, before.value]).toEqual([lamports(7_000_000n), lamports(0n)]);
    expect(before.context.slot).toBe(now.context.slot - 1n);
    endSlot();
    const after = await rpc.getBalance(to).send();
    expect(after).toEqual(now);
  });

  test("every encoding shows the same bytes", async () => {
    const mint = LOCAL_USDC_MINT;
    const shown = async (encoding?: string) => {
      const { result } = await call(url, "getAccountInfo", mint, { encoding });
      return (result as { value: { data: unknown } }).value.data;
    };
    const [base64] = (await shown("base64")) as [string];
    const bytes = Buffer.from(base64, "base64");
    expect(bytes).toHaveLength(82);
    const [zstd] = (await shown("base64+zstd")) as [string];
    expect(Buffer.from(Bun.zstdDecompressSync(Buffer.from(zstd, "base64")))).toEqual(bytes);
    const [base58] = (await shown("base58")) as [string];
    expect(await shown()).toBe(base58);
    const sliced = await call(url, "getAccountInfo", mint, {
      encoding: "base64",
      dataSlice: { offset: 4, length: 32 },
    });
    expect(sliced.result).toMatchObject({
      value: { data: [bytes.subarray(4, 36).toString("base64"), "base64"], space: 82 },
    });
  });

  test("base58 is refused for more than 128 bytes", async () => {
    const ata = associatedTokenAddress(LOCAL_AUTHORITY.address, LOCAL_USDC_MINT);
    await giveTokens(LOCAL_AUTHORITY.address, 1);
    expect((await call(url, "getAccountInfo", ata, { encoding: "base58" })).error?.code).toBe(
      -32600,
    );
  });

  test("getMultipleAccounts keeps order and shows missing ones as null", async () => {
    const { address: missing } = await generateKeyPairSigner();
    const { value } = await rpc
      .getMultipleAccounts([missing, LOCAL_FAUCET.address], { encoding: "base64" })
      .send();
    expect(value[0]).toBeNull();
    expect(value[1]?.lamports).toBeGreaterThan(0n);
    const many = Array.from({ length: 101 }, () => missing);
    expect((await call(url, "getMultipleAccounts", many)).error).toMatchObject({
      code: -32602,
      message: "Too many inputs provided; max 100",
    });
  });

  test("filters, slices and context of getProgramAccounts work together", async () => {
    const holder = localKey("test-holder").address;
    await giveTokens(holder, "1500000");
    const withContext = await rpc
      .getProgramAccounts(TOKEN_PROGRAM, {
        encoding: "base64",
        withContext: true,
        dataSlice: { offset: 64, length: 8 },
        filters: [
          { dataSize: 165n },
          {
            memcmp: {
              offset: 32n,
              bytes: holder as string as Base58EncodedBytes,
              encoding: "base58",
            },
          },
        ],
      })
      .send();
    expect(withContext.value.map(({ pubkey }) => pubkey as string)).toEqual([
      associatedTokenAddress(holder, LOCAL_USDC_MINT),
    ]);
    const [data] = withContext.value[0]?.account.data ?? [];
    expect(Buffer.from(data ?? "", "base64").readBigUInt64LE()).toBe(1_500_000n);
    const base64 = await call(url, "getProgramAccounts", TOKEN_PROGRAM, {
      encoding: "base64",
      filters: [{ memcmp: { offset: 44, bytes: "Bg==", encoding: "base64" } }, { dataSize: 82 }],
    });
    expect(base64.result).toMatchObject([{ pubkey: LOCAL_USDC_MINT }]);
  });

  test("a filter beyond the data matches nothing; a fifth and a malformed filter are refused", async () => {
    const beyond = { memcmp: { offset: 5000, bytes: "2" } };
    expect((await programAccounts([beyond])).result).toEqual([]);
    expect((await programAccounts([{ dataSize: 165 }, { dataSize: 82 }])).result).toEqual([]);
    expect((await programAccounts([beyond, beyond, beyond, beyond, beyond])).error?.code).toBe(
      -32602,
    );
    for (const bad of [
      {},
      { memcmp: { offset: 0, bytes: "0OIl" } },
      { memcmp: { bytes: "2" } },
      { dataSize: 165, memcmp: { offset: 0, bytes: "2" } },
      { dataSize: 165, owner: "2" },
      "tokenAccountState",
    ])
      expect((await programAccounts([bad])).error?.code).toBe(-32602);
  });

  test("four filters hold at once, whatever their encoding", async () => {
    const holder = localKey("test-filters");
    await giveTokens(holder.address, "7");
    const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
    const filters = [
      { dataSize: 165 },
      { memcmp: { offset: 0, bytes: LOCAL_USDC_MINT } },
      { memcmp: { offset: 32, bytes: base64(addressToBytes(holder.address)), encoding: "base64" } },
      { memcmp: { offset: 64, bytes: [7, 0, 0, 0, 0, 0, 0, 0] } },
    ];
    expect((await programAccounts(filters)).result).toMatchObject([
      { pubkey: associatedTokenAddress(holder.address, LOCAL_USDC_MINT) },
    ]);
    const missed: ReadonlyArray<object> = [
      { dataSize: 164 },
      { memcmp: { offset: 1, bytes: LOCAL_USDC_MINT } },
      { memcmp: { offset: 32, bytes: base64(addressToBytes(TOKEN_PROGRAM)), encoding: "base64" } },
      { memcmp: { offset: 64, bytes: [8, 0, 0, 0, 0, 0, 0, 0] } },
    ];
    for (const [at, other] of missed.entries())
      expect((await programAccounts(filters.with(at, other as never))).result).toEqual([]);
  });

  test("programs of the runtime are found by their loader", async () => {
    const loader = "BPFLoader2111111111111111111111111111111111";
    const { result } = await call(url, "getProgramAccounts", loader, {
      encoding: "base64",
      dataSlice: { offset: 0, length: 0 },
    });
    expect((result as Array<{ pubkey: string }>).map(({ pubkey }) => pubkey)).toContain(
      "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
    );
  });
});

describe("tokens", () => {
  test("an account that is longer than a token account is one only if its kind says so", () => {
    const data = new Uint8Array(170);
    const state = { lamports: 1n, owner: TOKEN_PROGRAM, executable: false, rentEpoch: 0n, data };
    data[108] = 1;
    for (const kind of [0, 1, 2]) {
      data[165] = kind;
      expect(tokenHolding(state) !== undefined).toBe(kind === 2);
    }
    expect(tokenHolding({ ...state, data: data.subarray(0, 164) })).toBeUndefined();
  });

  test("balance, supply and accounts of an owner", async () => {
    const { address: owner } = await generateKeyPairSigner();
    const supply = async () =>
      BigInt((await rpc.getTokenSupply(LOCAL_USDC_MINT).send()).value.amount);
    const before = await supply();
    await giveTokens(owner, 2_500_000);
    expect(await supply()).toBe(before + 2_500_000n);
    const ata = associatedTokenAddress(address(owner), LOCAL_USDC_MINT);
    expect((await rpc.getTokenAccountBalance(ata).send()).value).toMatchObject({
      amount: "2500000",
      decimals: 6,
      uiAmountString: "2.5",
    });
    for (const filter of [{ mint: LOCAL_USDC_MINT }, { programId: TOKEN_PROGRAM }]) {
      const { value } = await rpc
        .getTokenAccountsByOwner(owner, filter, { encoding: "base64" })
        .send();
      expect(value.map(({ pubkey }) => pubkey as string)).toEqual([ata]);
    }
  });

  test("wallets get token accounts and mints parsed, and base64 for everything else", async () => {
    const { address: owner } = await generateKeyPairSigner();
    await giveTokens(owner, 2_500_000);
    const { value: held } = await rpc
      .getTokenAccountsByOwner(owner, { programId: TOKEN_PROGRAM }, { encoding: "jsonParsed" })
      .send();
    expect(held[0]?.account.data).toEqual({
      program: "spl-token",
      parsed: {
        type: "account",
        info: {
          mint: LOCAL_USDC_MINT,
          owner,
          tokenAmount: { amount: "2500000", decimals: 6, uiAmount: 2.5, uiAmountString: "2.5" },
          state: "initialized",
          isNative: false,
        },
      },
      space: 165n,
    } as never);
    const parsed = async (of: string) =>
      (await call(url, "getAccountInfo", of, { encoding: "jsonParsed" })).result;
    expect(await parsed(LOCAL_USDC_MINT)).toMatchObject({
      value: {
        data: {
          parsed: {
            type: "mint",
            info: { mintAuthority: LOCAL_AUTHORITY.address, decimals: 6, freezeAuthority: null },
          },
        },
      },
    });
    expect(await parsed(LOCAL_FAUCET.address)).toMatchObject({ value: { data: ["", "base64"] } });
  });

  test("the faucet has a limit for each request", async () => {
    const { address: owner } = await generateKeyPairSigner();
    const refusal = async (method: string, amount: unknown) =>
      (await call(url, method, owner, amount, PROCESSED)).error;
    for (const amount of [0, "1000000000001", -1, 1.5, "x", null])
      expect((await refusal("requestTokenAirdrop", amount))?.code).toBe(-32602);
    expect((await refusal("requestAirdrop", 10 ** 15))?.code).toBe(-32602);
    expect(await refusal("requestAirdrop", 1)).toMatchObject({
      code: -32603,
      message: expect.stringContaining("insufficient funds for rent"),
    });
  });

  test.each([
    ["requestAirdrop", undefined],
    ["requestTokenAirdrop", { commitment: "confirmed" }],
  ] as const)("%s answers when readers at confirmed see it", async (method, options) => {
    const { address: owner } = await generateKeyPairSigner();
    const asked = options === undefined ? [] : [options];
    let isAnswered = false;
    const answer = call(url, method, owner, 1_000_000, ...asked).finally(() => {
      isAnswered = true;
    });
    const to =
      method === "requestAirdrop" ? owner : associatedTokenAddress(address(owner), LOCAL_USDC_MINT);
    const seen = async (commitment: "processed" | "confirmed") =>
      ((await call(url, "getBalance", to, { commitment })).result as { value: number }).value > 0;
    while (!(await seen("processed"))) expect(isAnswered).toBe(false);
    expect([await seen("confirmed"), isAnswered]).toEqual([false, false]);
    endSlot();
    expect((await answer).error).toBeUndefined();
    expect(await seen("confirmed")).toBe(true);
  });

  test("equal airdrops within one block are two transactions", async () => {
    const { address: owner } = await generateKeyPairSigner();
    const given = () => rpc.requestAirdrop(owner, lamports(1_000_000n), PROCESSED).send();
    expect(await given()).not.toBe(await given());
    endSlot();
    expect((await rpc.getBalance(owner).send()).value).toBe(lamports(2_000_000n));
  });

  test("local keys come from public labels", () => {
    const seed = createHash("sha256").update("settlement-evidence/local/faucet").digest();
    expect(Buffer.from(LOCAL_FAUCET.seed)).toEqual(seed);
  });
});

describe("JSON-RPC", () => {
  test("a batch is answered in order, without its notifications", async () => {
    const answers = await post(url, [
      { jsonrpc: "2.0", id: "a", method: "getHealth" },
      { jsonrpc: "2.0", method: "getHealth" },
      { jsonrpc: "2.0", id: 2, method: "nope" },
      { jsonrpc: "1.0", id: 3, method: "getHealth" },
    ]);
    expect(answers).toMatchObject([
      { id: "a", result: "ok" },
      { id: 2, error: { code: -32601, message: "Method not found" } },
      { id: 3, error: { code: -32600 } },
    ]);
    expect(await post(url, [{ jsonrpc: "2.0", method: "ping" }])).toBeUndefined();
  });

  test("malformed JSON-RPC gets the standard errors", async () => {
    expect(await post(url, "{")).toMatchObject({ id: null, error: { code: -32700 } });
    for (const body of ["[]", "3", "null", '{"id":1}'])
      expect(await post(url, body)).toMatchObject({ error: { code: -32600 } });
    for (const params of [["x"], [5], [], [null], { a: 1 }])
      expect(
        await post(url, { jsonrpc: "2.0", id: 1, method: "getBalance", params }),
      ).toMatchObject({ id: 1, error: { code: -32602 } });
  });

  test("numbers beyond 2^53 keep every digit", async () => {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "getAccountInfo",
      params: [LOCAL_USDC_MINT, { encoding: "base64" }],
    });
    const text = await (await fetch(url, { method: "POST", body })).text();
    expect(text).toContain('"rentEpoch":18446744073709551615');
  });

  test("a browser on any origin may call", async () => {
    const preflight = await fetch(url, { method: "OPTIONS" });
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(await (await fetch(`${url}/health`)).text()).toBe("ok");
  });
});
