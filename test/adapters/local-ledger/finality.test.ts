import { afterAll, expect, test } from "bun:test";
import { generateKeyPairSigner } from "@solana/kit";
import { CLOCK_SYSVAR } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { manualTime } from "../../../adapters/local-ledger/runtime/time/slots.ts";
import { call, startLedger } from "./ledger-fixture.ts";

const SLOTS = 32;
const MILLION = 1_000_000;
const time = manualTime(Date.now());
const { ledger, url, stop } = startLedger({ time, finalitySlots: SLOTS });
afterAll(stop);

const passSlots = (count: number): void => time.advance(count * 400);
// What a process finds when it opens the ledger is final at once.
passSlots(SLOTS);
const resultOf = async (method: string, ...params: ReadonlyArray<unknown>) =>
  (await call(url, method, ...params)).result;
const balanceAt = async (address: string, commitment: string) =>
  ((await resultOf("getBalance", address, { commitment })) as { readonly value: number }).value;
const airdrop = (address: string, lamports: number) =>
  resultOf("requestAirdrop", address, lamports, { commitment: "processed" });

test("an account is confirmed after its slot and finalized 32 slots later, each change by itself", async () => {
  const { address } = await generateKeyPairSigner();
  const balances = async () =>
    Promise.all(
      ["processed", "confirmed", "finalized"].map(
        async (at) => (await balanceAt(address, at)) / MILLION,
      ),
    );
  await airdrop(address, 1000 * MILLION);
  expect(await balances()).toEqual([1000, 0, 0]);
  passSlots(1);
  expect(await balances()).toEqual([1000, 1000, 0]);
  await airdrop(address, 500 * MILLION);
  expect(await balances()).toEqual([1500, 1000, 0]);
  passSlots(SLOTS - 1);
  expect(await balances()).toEqual([1500, 1500, 0]);
  passSlots(1);
  expect(await balances()).toEqual([1500, 1500, 1000]);
  passSlots(1);
  expect(await balances()).toEqual([1500, 1500, 1500]);
});

test("statuses, histories and scans are as final as accounts", async () => {
  const { address } = await generateKeyPairSigner();
  const signature = await airdrop(address, 1000 * MILLION);
  const status = async () => {
    const { value } = (await resultOf("getSignatureStatuses", [signature])) as {
      readonly value: ReadonlyArray<{
        readonly confirmationStatus: string;
        readonly confirmations: number | null;
      }>;
    };
    return [value[0]?.confirmationStatus, value[0]?.confirmations];
  };
  const listed = async (commitment: string) =>
    ((await resultOf("getSignaturesForAddress", address, { commitment })) as ReadonlyArray<unknown>)
      .length;
  const scanned = async (commitment: string) => {
    const system = "11111111111111111111111111111111";
    const options = { commitment, dataSlice: { offset: 0, length: 0 } };
    const rows = (await resultOf("getProgramAccounts", system, options)) as ReadonlyArray<{
      readonly pubkey: string;
    }>;
    return rows.some(({ pubkey }) => pubkey === address);
  };
  const seen = async (commitment: string) => [
    await listed(commitment),
    await scanned(commitment),
    (await resultOf("getTransaction", signature, { commitment })) !== null,
  ];
  expect(await status()).toEqual(["processed", 0]);
  passSlots(1);
  expect(await status()).toEqual(["confirmed", 1]);
  expect(await seen("confirmed")).toEqual([1, true, true]);
  expect(await seen("finalized")).toEqual([0, false, false]);
  passSlots(SLOTS);
  expect(await status()).toEqual(["finalized", null]);
  expect(await seen("finalized")).toEqual([1, true, true]);
});

test("slots, the clock and blockhashes lag alike at finalized", async () => {
  const slotAt = (commitment: string) => resultOf("getSlot", { commitment });
  const current = ledger.slots.current();
  expect(await Promise.all(["processed", "confirmed", "finalized"].map(slotAt))).toEqual([
    current,
    current - 1,
    current - 1 - SLOTS,
  ]);
  const lastValid = async (commitment: string) => {
    const { value } = (await resultOf("getLatestBlockhash", { commitment })) as {
      readonly value: { readonly lastValidBlockHeight: number };
    };
    return value.lastValidBlockHeight;
  };
  expect(await lastValid("confirmed")).toBe(current - 1 + 150);
  expect(await lastValid("finalized")).toBe(current - 1 - SLOTS + 150);
  const clock = ledger.accounts.read(CLOCK_SYSVAR, "finalized");
  expect(Buffer.from(clock?.data ?? []).readBigUInt64LE(0)).toBe(BigInt(current - 1 - SLOTS));
});
