import { describe, expect, test } from "bun:test";
import { type Base58EncodedBytes, createSolanaRpc } from "@solana/kit";
import { Effect, Stream } from "effect";
import fc from "fast-check";
import type { AccountKind, LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { type Address, address, addressToBytes } from "../../../../core/domain/address.ts";
import { encodeBase64, decodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { encodeBase58 } from "../../../../core/domain/encoding/base58.ts";
import { TOKEN_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { anyAddress, anyU64, bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { type AccountFilter, passing } from "../../../simulation/account-filters.ts";
import { configOver, failureOf, runOver, valueOf } from "../ledger-under-test.ts";
import {
  type Behaviour,
  body,
  page,
  peersOfTests,
  result,
  rpcError,
  type ScriptedPeer,
} from "../scripted-peer.ts";

const GENESIS = TOKEN_PROGRAM;

const open = peersOfTests();
/** A node of the test ledger. With several nodes, the first request to each asks for the genesis hash. */
const peerThat = (...plan: ReadonlyArray<Behaviour>): ScriptedPeer => {
  let asked = 0;
  return open((call, request) => {
    if (call.method === "getGenesisHash") return result(GENESIS)(call, request);
    const behaviour = plan[Math.min(asked, plan.length - 1)] ?? page(500);
    asked += 1;
    return behaviour(call, request);
  });
};
const KIND: AccountKind = {
  program: TOKEN_PROGRAM,
  length: 48,
  discriminator: Uint8Array.of(9, 8, 7, 6, 5, 4, 3, 2),
  splitAt: 16,
};
const OWNED: ReadonlyArray<LedgerAccount> = fc
  .sample(
    fc.record({
      address: anyAddress,
      owner: fc.constant(TOKEN_PROGRAM),
      lamports: anyU64,
      executable: fc.boolean(),
      data: bytesOfLength(40).map((rest) => Uint8Array.of(...KIND.discriminator, ...rest)),
    }),
    { numRuns: 1200, seed: 11 },
  )
  .filter(({ address }, at, all) => all.findIndex((other) => other.address === address) === at);

/** Accounts that anyone can make the program own: no discriminator, another length, or no data at all. */
const OTHERS: ReadonlyArray<LedgerAccount> = OWNED.slice(0, 60).map((account, n) => {
  const address = encodeBase58(addressToBytes(account.address).toReversed()) as Address;
  const datas = [
    new Uint8Array(48),
    new Uint8Array(),
    new Uint8Array(100_000),
    account.data.slice(0, 47),
    Uint8Array.of(...account.data, 0),
    account.data.with(7, 0),
  ];
  return { ...account, address, data: datas[n % datas.length] ?? account.data };
});

const textOf = ({ address, owner, lamports, executable, data }: LedgerAccount): string =>
  `{"account":{"data":["${encodeBase64(data)}","base64"],"executable":${executable},"lamports":${lamports},"owner":"${owner}","rentEpoch":18446744073709551615,"space":${data.length}},"pubkey":"${address}"}`;

const answer = (id: number, accounts: ReadonlyArray<LedgerAccount>, slot = 40): string =>
  `{"jsonrpc":"2.0","result":{"context":{"apiVersion":"3.0.0","slot":${slot}},"value":[${accounts.map(textOf).join(",")}]},"id":${id}}`;

type Call = { readonly params: ReadonlyArray<unknown> };
const filtersOf = ({ params }: Call) =>
  (params[1] as { readonly filters?: ReadonlyArray<AccountFilter> }).filters ?? [];
const filtered = (call: Call): ReadonlyArray<LedgerAccount> => {
  const isWanted = passing(filtersOf(call));
  return [...OWNED, ...OTHERS].filter(({ data }) => isWanted(data));
};
/** Serves the owned accounts that pass the request's filters. */
const serving: Behaviour = (call) => new Response(answer(call.id, filtered(call)));
const bytesAt = (offset: number, bytes: Uint8Array) => ({
  memcmp: { offset, bytes: encodeBase58(bytes) },
});
const OF_KIND = [{ dataSize: KIND.length }, bytesAt(0, KIND.discriminator)];
const isSplit = (call: Call): boolean => filtersOf(call).length > OF_KIND.length;

const scan = Ledger.use((ledger) => Stream.runCollect(ledger.programAccounts(KIND)));
const byAddress = (accounts: Iterable<LedgerAccount>) =>
  [...accounts].sort((a, b) => (a.address < b.address ? -1 : 1));
const once = (chunks: ReadonlyArray<{ readonly value: ReadonlyArray<LedgerAccount> }>) =>
  byAddress(
    new Map<Address, LedgerAccount>(
      chunks.flatMap(({ value }) => value).map((account) => [account.address, account]),
    ).values(),
  );

describe("a program's accounts", () => {
  test("are those that kit reads, field by field", async () => {
    const peer = peerThat(serving);
    const { exit } = await runOver(configOver([peer]), scan);
    const ours = valueOf(exit).flatMap(({ value }) => value);
    const bare = new URL(peer.url);
    bare.username = "";
    bare.password = "";
    const bytes = encodeBase58(KIND.discriminator) as Base58EncodedBytes;
    const theirs = await createSolanaRpc(bare.href)
      .getProgramAccounts(TOKEN_PROGRAM, {
        encoding: "base64",
        withContext: true,
        filters: [{ dataSize: 48n }, { memcmp: { offset: 0n, bytes, encoding: "base58" } }],
      })
      .send();
    expect(ours).toEqual([...OWNED]);
    expect(ours).toEqual(
      theirs.value.map(({ pubkey, account }) => ({
        address: address(pubkey),
        owner: address(account.owner),
        lamports: account.lamports as bigint,
        executable: account.executable,
        data: decodeBase64(account.data[0]) ?? new Uint8Array(),
      })),
    );
    expect(ours.every(({ address }) => addressToBytes(address).length === 32)).toBe(true);
  });

  test.each([
    ["says that its scan grew too large", rpcError(-32012)],
    ["refuses in its own words", rpcError(-32600)],
    ["is too small for the answer", page(413)],
  ])("are asked for in parts of a node that %s", async (_name, refusing) => {
    const other = { ...KIND, length: 50, discriminator: Uint8Array.of(1, 1, 1, 1, 1, 1, 1, 1) };
    const peer = peerThat((call, request) => {
      const isOther = filtersOf(call)[0]?.dataSize === other.length;
      return (isSplit(call) || isOther ? serving : refusing)(call, request);
    });
    const { exit } = await runOver(
      configOver([peer], { attemptsPerNode: 1 }),
      Effect.tap(scan, () =>
        Ledger.use((ledger) => Stream.runDrain(ledger.programAccounts(other))),
      ),
    );
    expect(once(valueOf(exit))).toEqual(byAddress(OWNED));
    const [whole, ...parts] = peer.calls.slice(0, 257).map(filtersOf);
    expect(whole).toEqual(OF_KIND);
    const asText = (filters: ReadonlyArray<AccountFilter>) => JSON.stringify(filters);
    const part = (first: number) => [...OF_KIND, bytesAt(16, Uint8Array.of(first))];
    expect(parts.map(asText).sort()).toEqual(
      Array.from({ length: 256 }, (_, first) => asText(part(first))).sort(),
    );
    // Escrows are split, merchants are not: one kind's size says nothing about the other's.
    expect(peer.calls.slice(257).map(filtersOf)).toEqual([
      [{ dataSize: other.length }, bytesAt(0, other.discriminator)],
    ]);
  });

  test("are asked for in parts when the answer is too large, and at once in parts the next time", async () => {
    const peer = peerThat(serving);
    const config = configOver([peer], { attemptsPerNode: 1 });
    const { bulk } = config.pools;
    const small = {
      ...config,
      pools: { ...config.pools, bulk: { ...bulk, maxBodyBytes: 120_000 } },
    };
    const { exit } = await runOver(small, Effect.all([scan, scan]));
    const [first, second] = valueOf(exit);
    expect(once(first)).toEqual(byAddress(OWNED));
    expect(once(second)).toEqual(byAddress(OWNED));
    expect(peer.calls.filter((call) => !isSplit(call))).toHaveLength(1);
  });

  test("are not split for a caller that does not say where to split", async () => {
    const peer = peerThat(rpcError(-32012));
    const { exit } = await runOver(
      configOver([peer]),
      Ledger.use((ledger) => {
        const { splitAt: _, ...kind } = KIND;
        return Stream.runCollect(ledger.programAccounts(kind));
      }),
    );
    expect(failureOf(exit)).toMatchObject({ _tag: "LedgerUnavailable" });
    expect(peer.calls).toHaveLength(1);
  });

  test.each(["tells how long its answer is", "sends its answer in chunks"])(
    "are read from a node that ignores filters and %s, however long other accounts are",
    async (way) => {
      const junk = OTHERS.map((account) => ({ ...account, data: new Uint8Array(100_000) }));
      const peer = peerThat(({ id }) => {
        const text = answer(id, [...junk, ...OWNED, ...junk]);
        return new Response(way.includes("chunks") ? new Blob([text]).stream() : text);
      });
      const config = configOver([peer], { attemptsPerNode: 1 });
      const bulk = { ...config.pools.bulk, maxBodyBytes: 1_000_000 };
      const pools = { ...config.pools, bulk };
      const { exit, logged } = await runOver({ ...config, pools }, scan);
      expect(once(valueOf(exit))).toEqual(byAddress(OWNED));
      expect(peer.calls).toHaveLength(1);
      expect(logged).toContain("listed accounts that it was not asked for");
      expect(logged).toContain("records=120");
      expect(logged).not.toContain("key");
    },
  );

  test("come again from the next node when a node breaks off in the middle", async () => {
    const breaking = peerThat(({ id }) => new Response(answer(id, OWNED).slice(0, -60_000)));
    const whole = peerThat(({ id }) => new Response(answer(id, OWNED, 41)));
    const { exit } = await runOver(configOver([breaking, whole], { attemptsPerNode: 1 }), scan);
    const chunks = valueOf(exit);
    expect(once(chunks)).toEqual(byAddress(OWNED));
    expect(chunks.at(-1)?.slot).toBe(41n);
  });

  test("of a node that is behind are dropped, and those of the next node are taken", async () => {
    const behind = peerThat(({ id }) => new Response(answer(id, OWNED, 30)));
    const { exit } = await runOver(
      configOver([peerThat(serving, page(404)), behind], { attemptsPerNode: 1 }),
      Effect.gen(function* () {
        yield* scan;
        return yield* Effect.flip(scan);
      }),
    );
    expect(valueOf(exit)).toMatchObject({ _tag: "LedgerUnavailable" });
  });

  test("are read no faster than the caller takes them", async () => {
    let produced = 0;
    const rows = OWNED.map(textOf);
    const endless = new ReadableStream({
      pull: (controller) => {
        if (produced === 0) {
          controller.enqueue(
            new TextEncoder().encode(
              '{"jsonrpc":"2.0","id":1,"result":{"context":{"slot":9},"value":[',
            ),
          );
        }
        produced += 1;
        controller.enqueue(new TextEncoder().encode(`${rows.join(",")},`));
      },
    });
    const { exit } = await runOver(
      configOver([peerThat(body(endless))]),
      Ledger.use((ledger) =>
        ledger.programAccounts(KIND).pipe(
          Stream.take(3),
          Stream.runFold(
            () => 0,
            (count, { value }) => count + value.length,
          ),
        ),
      ),
    );
    expect(valueOf(exit)).toBe(3000);
    // 700 accounts each. The sockets hold some megabytes between the two ends.
    expect(produced).toBeLessThan(200);
  });
});
