import { afterAll, describe, expect, test } from "bun:test";
import { type Address as KitAddress, lamports } from "@solana/kit";
import { localGenesis } from "../../../adapters/local-ledger/genesis/genesis.ts";
import { LOCAL_USDC_MINT, localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { manualTime } from "../../../adapters/local-ledger/runtime/time/ledger-time.ts";
import { SLOTS_PER_EPOCH } from "../../../adapters/local-ledger/runtime/time/slot-clock.ts";
import { address, addressToBytes } from "../../../core/domain/address.ts";
import { associatedTokenAddress } from "../../../core/protocol/addresses/addresses.ts";
import { call, startLedger, temporaryFolder } from "./ledger-fixture.ts";

const time = manualTime(Date.now());
const { rpc, url, stop } = startLedger({ time });
afterAll(stop);
const endSlot = () => time.advance(400);
const airdrop = (to: KitAddress, amount: number) =>
  rpc.requestAirdrop(to, lamports(BigInt(amount)), { commitment: "processed" }).send();

describe("who makes the blocks", () => {
  test("this node leads every slot, and says so by its identity", async () => {
    const { identity } = await rpc.getIdentity().send();
    expect(await rpc.getSlotLeader().send()).toBe(identity);
    expect(await rpc.getSlotLeader({ commitment: "processed" }).send()).toBe(identity);
    expect(await rpc.getSlotLeaders(0n, 3).send()).toEqual([identity, identity, identity]);
    expect(await rpc.getSlotLeaders(7n, 0).send()).toEqual([]);
    expect(await rpc.getSlotLeaders(0n, 5000).send()).toHaveLength(5000);
  });

  test("leaders are known up to the end of the next epoch", async () => {
    const end = BigInt(2 * SLOTS_PER_EPOCH);
    expect(await rpc.getSlotLeaders(end - 2n, 2).send()).toHaveLength(2);
    const unavailable = (epoch: number) => ({
      code: -32602,
      message: `Invalid slot range: leader schedule for epoch ${epoch} is unavailable`,
    });
    expect((await call(url, "getSlotLeaders", Number(end) - 2, 3)).error).toEqual(unavailable(2));
    expect((await call(url, "getSlotLeaders", 5 * SLOTS_PER_EPOCH, 1)).error).toEqual(
      unavailable(5),
    );
  });

  test("nobody votes", async () => {
    const votePubkey = localKey("a voter").address;
    for (const config of [undefined, { votePubkey, keepUnstakedDelinquents: true }])
      expect(await rpc.getVoteAccounts(config).send()).toEqual({ current: [], delinquent: [] });
  });

  test.each<readonly [string, ReadonlyArray<unknown>, number, string]>([
    ["getSlotLeaders", [0], -32602, "invalid length 1, expected a tuple of size 2."],
    ["getSlotLeaders", [0, 5001], -32602, "Invalid limit; max 5000"],
    ["getSlotLeaders", [0, "1"], -32602, 'invalid type: string "1", expected u64.'],
    ["getSlotLeader", [{ minContextSlot: 10 ** 9 }], -32016, "Minimum context slot"],
    ["getSlotLeader", [1], -32602, "invalid type: integer `1`, expected a map."],
    ["getVoteAccounts", [{ votePubkey: "x" }], -32602, "Invalid param: WrongSize"],
    ["getVoteAccounts", [{ votePubkey: 1 }], -32602, "expected a string."],
    ["getVoteAccounts", [{ keepUnstakedDelinquents: 1 }], -32602, "expected a boolean."],
    ["getVoteAccounts", [{ delinquentSlotDistance: -1 }], -32602, "expected u64."],
    ["getSupply", [{ excludeNonCirculatingAccountsList: "x" }], -32602, "expected a boolean."],
    ["getSupply", [{ commitment: "x" }], -32602, "unknown variant `x`"],
    ["getSupply", [{}, 1], -32602, "Expected from 0 to 1 parameters."],
    ["getTokenLargestAccounts", [], -32602, "`params` should have at least 1 argument(s)"],
    ["getTokenLargestAccounts", ["x"], -32602, "Invalid param: WrongSize"],
    [
      "getTokenLargestAccounts",
      [localKey("no mint").address],
      -32602,
      "Invalid param: could not find mint",
    ],
    [
      "getTokenLargestAccounts",
      [localKey("faucet").address],
      -32602,
      "Invalid param: Token mint could not be unpacked",
    ],
  ])("%s refuses %j", async (method, params, code, message) => {
    const { error } = await call(url, method, ...params);
    expect(error?.code).toBe(code);
    expect(error?.message).toContain(message);
  });
});

describe("the supply of lamports", () => {
  test("is what all accounts hold", async () => {
    const owners = new Set([
      "11111111111111111111111111111111",
      "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
      "NativeLoader1111111111111111111111111111111",
      "BPFLoader1111111111111111111111111111111111",
      "BPFLoader2111111111111111111111111111111111",
      "BPFLoaderUpgradeab1e11111111111111111111111",
      "Sysvar1111111111111111111111111111111111111",
      "Config1111111111111111111111111111111111111",
      "Feature111111111111111111111111111111111111",
      ...(await programsOfThisLedger()),
    ]);
    let sum = 0n;
    for (const owner of owners) {
      const accounts = await rpc
        .getProgramAccounts(owner as KitAddress, {
          encoding: "base64",
          dataSlice: { offset: 0, length: 0 },
        })
        .send();
      for (const { account } of accounts) sum += account.lamports;
    }
    const { value } = await rpc.getSupply().send();
    expect(value.total as bigint).toBe(sum);
    expect(value).toEqual({
      total: lamports(sum),
      circulating: lamports(sum),
      nonCirculating: lamports(0n),
      nonCirculatingAccounts: [],
    });
  });

  test("a transaction moves its lamports in the supply once its slot is over; the fee is burned", async () => {
    const supply = async (commitment: "processed" | "finalized") =>
      (await rpc.getSupply({ commitment, excludeNonCirculatingAccountsList: true }).send()).value
        .total as bigint;
    endSlot();
    const before = await supply("finalized");
    await airdrop(localKey("supplied").address, 5_000_000);
    expect(await supply("processed")).toBe(before - 5000n);
    expect(await supply("finalized")).toBe(before);
    endSlot();
    expect(await supply("finalized")).toBe(before - 5000n);
  });
});

describe("the largest accounts of a token", () => {
  test("are twenty, the largest first, equal ones by address, as kit decodes them", async () => {
    const holders = Array.from({ length: 23 }, (_, i) => ({
      owner: localKey(`holder ${i}`).address,
      // Three of them hold the same amount.
      amount: i < 3 ? 1_000n : BigInt(i * 100),
    }));
    for (const { owner, amount } of holders)
      await call(url, "requestTokenAirdrop", owner, String(amount), {
        commitment: "processed",
      });
    const asked = () => rpc.getTokenLargestAccounts(LOCAL_USDC_MINT).send();
    expect((await asked()).value).toEqual([]);
    endSlot();
    const expected = holders
      .map(({ owner, amount }) => ({
        address: associatedTokenAddress(owner, LOCAL_USDC_MINT),
        amount,
      }))
      .toSorted(
        (a, b) =>
          Number(b.amount - a.amount) ||
          Buffer.compare(addressToBytes(b.address), addressToBytes(a.address)),
      )
      .slice(0, 20);
    const { value } = await asked();
    expect(value.map((each) => [each.address as string, each.amount as string])).toEqual(
      expected.map((each) => [each.address, String(each.amount)]),
    );
    expect(value[0]).toEqual({
      address: expected[0]?.address,
      amount: "2200",
      decimals: 6,
      uiAmount: 0.0022,
      uiAmountString: "0.0022",
    } as never);
  });
});

/** The programs that genesis transactions called; their accounts have owners outside the built-in list. */
const programsOfThisLedger = async (): Promise<ReadonlyArray<string>> => {
  const { result } = await call(url, "getBlock", 1, { maxSupportedTransactionVersion: 0 });
  const { transactions } = result as {
    transactions: Array<{ transaction: { message: { accountKeys: Array<string> } } }>;
  };
  const named = new Set(transactions.flatMap((each) => each.transaction.message.accountKeys));
  const loader = "BPFLoaderUpgradeab1e11111111111111111111111";
  const programs: Array<string> = [];
  for (const each of named) {
    const { value } = await rpc
      .getAccountInfo(address(each), { encoding: "base64", commitment: "processed" })
      .send();
    if (value?.executable === true && (value.owner as string) === loader) programs.push(each);
  }
  return programs;
};

test("a ledger that is opened again has the same supply", async () => {
  const folder = temporaryFolder();
  const options = { directory: folder.path, genesis: localGenesis({ demo: false }), time };
  const total = async (started: ReturnType<typeof startLedger>) => {
    const { value } = await started.rpc.getSupply().send();
    await started.stop();
    return value.total;
  };
  expect(await total(startLedger(options))).toBe(await total(startLedger(options)));
  folder.remove();
});
