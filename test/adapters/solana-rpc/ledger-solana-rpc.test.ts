import { expect, test } from "bun:test";
import { Effect, Exit, Stream } from "effect";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import {
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { configOver, failureOf, runOver, valueOf } from "./ledger-under-test.ts";
import { atSlot, peersOfTests, result } from "./scripted-peer.ts";

const peerThat = peersOfTests();

const json = (over: object = {}) => ({
  lamports: 1,
  owner: TOKEN_PROGRAM,
  executable: false,
  data: ["", "base64"],
  rentEpoch: 0,
  space: 0,
  ...over,
});
const nth = (n: number) => {
  const bytes = new Uint8Array(32).fill(1);
  new DataView(bytes.buffer).setUint32(0, n);
  return addressFromBytes(bytes);
};
const rows = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ pubkey: nth(n), account: json({ lamports: n }) }));
const KIND = { program: TOKEN_PROGRAM, length: 0, discriminator: Uint8Array.of(1, 2, 3) };
const scan = Ledger.use((ledger) => Stream.runCollect(ledger.programAccounts(KIND)));

test("asks for accounts in one request, finalized or confirmed, in base64", async () => {
  const peer = peerThat(atSlot(9, [json(), null]));
  const addresses = [nth(1), nth(2)];
  const { exit } = await runOver(
    configOver([peer]),
    Ledger.use((ledger) => ledger.readAccounts(addresses, "finalized")),
  );
  expect(valueOf(exit)).toMatchObject({
    slot: 9n,
    value: [{ address: nth(1), lamports: 1n }, null],
  });
  expect(peer.calls).toMatchObject([
    {
      method: "getMultipleAccounts",
      params: [
        addresses,
        { encoding: "base64", commitment: "finalized", dataSlice: { offset: 0, length: 10_240 } },
      ],
    },
  ]);
});

test("asks for whole data where nothing is to be cut, and accepts data cut or uncut", async () => {
  const whole = new Uint8Array(20).fill(7);
  const cut = json({ data: [encodeBase64(whole.slice(0, 8)), "base64"], space: 20 });
  const uncut = json({ data: [encodeBase64(whole), "base64"], space: 20 });
  const peer = peerThat(atSlot(9, [cut, uncut]), atSlot(9, [uncut]), atSlot(9, [cut]));
  const { exit } = await runOver(
    configOver([peer]),
    Effect.gen(function* () {
      const ledger = yield* Ledger;
      return {
        cut: yield* ledger.readAccounts([nth(1), nth(2)], "confirmed", 8),
        whole: yield* ledger.readAccounts([nth(2)], "confirmed", Number.POSITIVE_INFINITY),
        // Fewer bytes than the account has, although none were cut.
        short: yield* Effect.flip(ledger.readAccounts([nth(1)], "confirmed", 9)),
      };
    }),
  );
  const { cut: both, whole: one, short } = valueOf(exit);
  expect(both.value.map((account) => account?.data)).toEqual([
    whole.slice(0, 8),
    whole.slice(0, 8),
  ]);
  expect(one.value.map((account) => account?.data)).toEqual([whole]);
  expect(short).toMatchObject({ cause: { kind: "malformed" } });
  expect(peer.calls.slice(0, 2).map(({ params }) => params[1])).toMatchObject([
    { dataSlice: { offset: 0, length: 8 } },
    { encoding: "base64" },
  ]);
  expect(peer.calls[1]?.params[1]).not.toHaveProperty("dataSlice");
});

test("dies on more than a hundred accounts in one read", async () => {
  const peer = peerThat(atSlot(9, []));
  const many = Array.from({ length: 101 }, (_, n) => nth(n));
  const { exit } = await runOver(
    configOver([peer]),
    Ledger.use((ledger) => ledger.readAccounts(many, "confirmed")),
  );
  expect(Exit.hasDies(exit)).toBe(true);
  expect(peer.calls).toEqual([]);
});

test("takes slot and block height from the same answer", async () => {
  const peer = peerThat(
    result({
      absoluteSlot: 447_552_001,
      blockHeight: 400,
      epoch: 1,
      slotIndex: 1,
      slotsInEpoch: 8,
    }),
  );
  const { exit } = await runOver(
    configOver([peer]),
    Ledger.use((ledger) => ledger.tip("confirmed")),
  );
  expect(valueOf(exit)).toEqual({ slot: 447_552_001n, blockHeight: 400n });
  expect(peer.calls).toMatchObject([
    { method: "getEpochInfo", params: [{ commitment: "confirmed" }] },
  ]);
});

test("returns a program's accounts in chunks of a thousand at one slot", async () => {
  const peer = peerThat(atSlot(77, rows(2500)));
  const { exit } = await runOver(configOver([peer]), scan);
  const chunks = valueOf(exit);
  expect(chunks.map(({ slot, value }) => [slot, value.length])).toEqual([
    [77n, 1000],
    [77n, 1000],
    [77n, 500],
  ]);
  expect(chunks.flatMap(({ value }) => value).map(({ address }) => address)).toEqual(
    rows(2500).map(({ pubkey }) => pubkey),
  );
  expect(peer.calls).toMatchObject([
    {
      method: "getProgramAccounts",
      params: [
        TOKEN_PROGRAM,
        {
          encoding: "base64",
          withContext: true,
          commitment: "finalized",
          // 010203 in base58.
          filters: [{ dataSize: 0 }, { memcmp: { offset: 0, bytes: "Ldp" } }],
        },
      ],
    },
  ]);
});

test("returns the slot of a scan without accounts", async () => {
  const { exit } = await runOver(configOver([peerThat(atSlot(5, []))]), scan);
  expect(valueOf(exit)).toEqual([{ slot: 5n, value: [] }]);
});

test("fails a whole scan for one bad row among thousands", async () => {
  // Within the first chunk. Later, a chunk before it might have been delivered already.
  const row = { pubkey: SYSTEM_PROGRAM, account: json({ executable: "no" }) };
  const bad = rows(2500).with(900, row);
  const seen: Array<unknown> = [];
  const { exit } = await runOver(
    configOver([peerThat(atSlot(5, bad))]),
    Ledger.use((ledger) =>
      Stream.runForEach(ledger.programAccounts(KIND), (chunk) =>
        Effect.sync(() => void seen.push(chunk)),
      ),
    ),
  );
  expect(failureOf(exit)).toMatchObject({
    _tag: "LedgerUnavailable",
    cause: { kind: "malformed" },
  });
  expect(seen).toEqual([]);
});

test.each([
  ["without context", [json()]],
  ["with a slot in words", { context: { slot: "9" }, value: [json()] }],
  ["with a slot beyond 2^53", { context: { slot: 2 ** 53 }, value: [json()] }],
  ["with a negative slot", { context: { slot: -1 }, value: [json()] }],
  ["with too many accounts", { context: { slot: 9 }, value: [json(), json()] }],
])("takes no answer %s", async (_name, answer) => {
  const { exit } = await runOver(
    configOver([peerThat(result(answer))]),
    Ledger.use((ledger) => ledger.readAccounts([nth(1)], "confirmed")),
  );
  expect(failureOf(exit)).toMatchObject({ cause: { kind: "malformed" } });
});
