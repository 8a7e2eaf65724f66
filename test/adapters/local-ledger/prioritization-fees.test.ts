import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  computeUnitLimit,
  transferLamports,
} from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { localGenesis } from "../../../adapters/local-ledger/genesis/genesis.ts";
import { type LocalKey, localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { signedTransaction } from "../../../adapters/local-ledger/genesis/signed-transaction.ts";
import { manualTime } from "../../../adapters/local-ledger/runtime/time/slots.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { type Instruction, readonly } from "../../../core/domain/ledger/instruction.ts";
import {
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { call, startLedger, temporaryFolder } from "./ledger-fixture.ts";

const folder = temporaryFolder();
const time = manualTime(Date.now());
const opened = () =>
  startLedger({ directory: folder.path, genesis: localGenesis({ demo: false }), time });
let served = opened();
afterAll(async () => {
  await served.stop();
  folder.remove();
});

const [a, b, c, idle] = ["a", "b", "c", "idle"].map((name) => localKey(`writable ${name}`)) as [
  LocalKey,
  LocalKey,
  LocalKey,
  LocalKey,
];
const payers = [1, 2, 3].map((i) => localKey(`a bidder ${i}`));
const U64_MAX = 2n ** 64n - 1n;

const price = (microLamports: bigint): Instruction => {
  const data = new Uint8Array(9);
  data[0] = 3;
  new DataView(data.buffer).setBigUint64(1, microLamports, true);
  return { programAddress: COMPUTE_BUDGET_PROGRAM, accounts: [], data };
};
const memo = (...accounts: Instruction["accounts"]): Instruction => ({
  programAddress: MEMO_PROGRAM,
  accounts,
  data: Uint8Array.of(65),
});

const send = async (payer: LocalKey, instructions: ReadonlyArray<Instruction>) => {
  const { blockhash } = served.ledger.latestBlockhash();
  const wire = encodeBase64(signedTransaction({ payer, instructions, blockhash }));
  const config = { encoding: "base64", skipPreflight: true };
  expect((await call(served.url, "sendTransaction", wire, config)).error).toBeUndefined();
};
const pay = (payer: LocalKey, ...to: ReadonlyArray<LocalKey>) =>
  to.map((each) => transferLamports(payer.address, each.address, 1_000_000n));
const slot = async () => Number(await served.rpc.getSlot({ commitment: "processed" }).send());
const fees = async (...accounts: ReadonlyArray<LocalKey>) =>
  (await served.rpc.getRecentPrioritizationFees(accounts.map(({ address }) => address)).send()).map(
    (fee) => [Number(fee.slot), fee.prioritizationFee as bigint] as const,
  );
const newest = async (...accounts: ReadonlyArray<LocalKey>) => (await fees(...accounts)).at(-1);

/** The slot in which three bidders pay 5 for a and b, 9 for b and c, 2 for a and c. */
let busy: number;

beforeAll(async () => {
  for (const { address } of payers)
    await call(served.url, "requestAirdrop", address, 10 ** 10, { commitment: "processed" });
  time.advance(400);
  busy = await slot();
  const [first, second, third] = payers as [LocalKey, LocalKey, LocalKey];
  await send(first, [price(5n), ...pay(first, a, b)]);
  await send(second, [price(9n), ...pay(second, b, c)]);
  await send(third, [price(2n), ...pay(third, a, c)]);
});

test("a block of the current slot is left out", async () => {
  expect((await fees()).map(([of]) => of)).not.toContain(busy);
  time.advance(400);
  expect((await fees()).map(([of]) => of)).toContain(busy);
});

test("a block has its lowest price, or the lowest price of transactions that write an account", async () => {
  expect(await newest()).toEqual([busy, 2n]);
  expect(await newest(a)).toEqual([busy, 2n]);
  expect(await newest(b)).toEqual([busy, 5n]);
  expect(await newest(c)).toEqual([busy, 2n]);
  expect(await newest(idle)).toEqual([busy, 2n]);
  expect(await newest(a, b, c, idle)).toEqual([busy, 5n]);
  expect(await newest(payers[1] as LocalKey)).toEqual([busy, 9n]);
});

test("slots are real ones, oldest first, with price 0 when nobody paid", async () => {
  const all = await fees();
  const slots = all.map(([of]) => of);
  expect(slots).toEqual(slots.toSorted((x, y) => x - y));
  for (const [of, fee] of all) {
    expect(served.ledger.log.ofSlot(of).length).toBeGreaterThan(0);
    expect(fee).toBe(of === busy ? 2n : 0n);
  }
  expect(all.length).toBeGreaterThan(1);
});

test("an account that is only read, and a transaction that asks for no units, set no price", async () => {
  time.advance(400);
  const payer = payers[0] as LocalKey;
  await send(payer, [price(7n), memo(readonly(idle.address))]);
  await send(payer, [price(3n), computeUnitLimit(0), memo()]);
  const of = await slot();
  time.advance(400);
  expect(await newest(idle)).toEqual([of, 7n]);
  expect(await newest(payer)).toEqual([of, 7n]);
  await send(payers[1] as LocalKey, [price(U64_MAX), computeUnitLimit(0), memo()]);
  time.advance(400);
  expect(await newest()).toEqual([of, 7n]);
});

test("a reopened ledger still has the prices", async () => {
  const before = await fees(b);
  await served.stop();
  served = opened();
  expect(await fees(b)).toEqual(before);
});

test("at most 150 blocks are listed", async () => {
  const payer = payers[0] as LocalKey;
  for (let i = 0; i < 150; i++) {
    await send(payer, [price(BigInt(i)), memo()]);
    time.advance(400);
  }
  const all = await fees();
  expect(all).toHaveLength(150);
  expect(all.map(([, fee]) => fee)).toEqual(Array.from({ length: 150 }, (_, i) => BigInt(i)));
});
