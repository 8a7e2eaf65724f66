import { afterAll, beforeAll, expect, test } from "bun:test";
import { deploy, emptyCluster, type EmptyCluster } from "./deploy-fixture.ts";

const SOL = 1_000_000_000n;

let cluster: EmptyCluster;
beforeAll(async () => {
  cluster = await emptyCluster();
});
afterAll(() => cluster.stop());

/** Deploys with a new payer of one SOL and keys of its own, and returns what it said and spent. */
const deployAs = async (name: string, changes: Parameters<EmptyCluster["options"]>[0] = {}) => {
  const payer = await cluster.keyFile(`${name}.json`);
  await cluster.give(payer.address, SOL);
  const { said } = await deploy(
    cluster.options({
      "payer-key": payer.path,
      keys: cluster.path(`${name}-keys`),
      "env-file": cluster.path(`${name}.env`),
      "new-mint": true,
      sbpf: "v3",
      ...changes,
    }),
  );
  return { said, spent: SOL - cluster.balance(payer.address) };
};

/** The lamports that the cost names on the line of these words. */
const lamportsOf = (said: string, words: string): bigint => {
  const line = said.split("\n").find((one) => one.includes(words));
  const lamports = /^ +(\d+) lamports/.exec(line ?? "")?.[1];
  if (lamports === undefined) throw new Error(`the cost has no line of ${words}`);
  return BigInt(lamports);
};

test("a deployment spends exactly what its cost says, with a price and without one", async () => {
  const plain = await deployAs("plain");
  expect(plain.spent).toBe(lamportsOf(plain.said, "in all, at most"));
  expect(plain.said).not.toContain("priority fees");

  const priced = await deployAs("priced", { "priority-fee": "500001" });
  expect(priced.spent).toBe(lamportsOf(priced.said, "in all, at most"));
  const [, writes, others] =
    /priority fees of (\d+) writes and at most (\d+) others, 500001 micro-lamports/.exec(
      priced.said,
    ) ?? [];
  // 0.500001 lamports for each of 3,000 and 200,000 units, rounded up.
  const fees = BigInt(writes ?? 0) * 1501n + BigInt(others ?? 0) * 100_001n;
  expect(fees).toBeGreaterThan(0n);
  expect(lamportsOf(priced.said, "priority fees")).toBe(fees);
  const signatures = (said: string) => lamportsOf(said, "fees of at most");
  expect(priced.spent - plain.spent).toBe(fees + signatures(priced.said) - signatures(plain.said));
}, 120_000);

test("buffer writes that a node drops until their blockhash expires are signed anew, once, and only what landed is paid for", async () => {
  let blockhashes = 0;
  let dropsUnder: number | undefined;
  const dropped = new Set<unknown>();
  const written = new Set<unknown>();
  let turn = 0;
  cluster.setBetween(({ id, method, params }) => {
    if (method === "getLatestBlockhash") blockhashes++;
    const [wire, options] = params as [unknown, { readonly skipPreflight?: boolean }];
    if (method !== "sendTransaction" || options.skipPreflight !== true)
      return Promise.resolve(undefined);
    dropsUnder ??= blockhashes;
    // Every other write of the first round is taken and never sent on, however often it comes.
    if (blockhashes === dropsUnder && !written.has(wire) && !dropped.has(wire))
      (turn++ % 2 === 0 ? dropped : written).add(wire);
    if (!dropped.has(wire)) return Promise.resolve(undefined);
    return Promise.resolve(JSON.stringify({ jsonrpc: "2.0", id, result: "1".repeat(64) }));
  });
  const { said, spent } = await deployAs("dropped").finally(() => cluster.setBetween(undefined));
  const rounds = [...said.matchAll(/attestor: writing (\d+) of (\d+) parts/g)].map(
    ([, missing, all]) => [Number(missing), Number(all)],
  );
  const all = dropped.size + written.size;
  expect(dropped.size).toBeGreaterThan(5);
  expect(rounds).toEqual([
    [all, all],
    [dropped.size, all],
  ]);
  expect(spent).toBe(lamportsOf(said, "in all, at most"));
  expect(cluster.buffers()).toEqual([]);
}, 120_000);
