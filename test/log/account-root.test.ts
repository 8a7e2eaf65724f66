import { expect, test } from "bun:test";
import { hash32FromBytes } from "../../core/domain/hash32.ts";
import { networkLeaf } from "../../core/log/leaf/event-leaf.ts";
import { LeafTree } from "../../core/log/leaf/leaf-tree.ts";
import { noEvents, rootOf } from "../../core/log/tree/frontier.ts";
import { decodeCustodyConfigAccount } from "../../core/protocol/accounts/settings-accounts.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../arbitraries/test-ledger.ts";
import { seededRandom } from "../arbitraries/seeded-random.ts";
import { rangeKey, referenceRootOver } from "../core/log/support/reference-tree.ts";
import { custodyConfigAccount } from "../doubles/custody-config.ts";
import { IndependentTree } from "./independent-tree.ts";
import { foldOf, grownAccounts, largeLogs, rangesIn } from "./ledger-accounts.ts";

const SIZES = 2000;

const leafHashOf = (leaf: Uint8Array): Uint8Array =>
  Uint8Array.from(new Bun.CryptoHasher("sha256").update(Uint8Array.of(0)).update(leaf).digest());

test(`at each size from 1 to ${SIZES} the account's fold is the root of RFC 6962`, () => {
  const escrow = TEST_GENESIS_HASH;
  const eventOf = (number: number) => ({
    state: "Fulfilled",
    address: escrow,
    data: new TextEncoder().encode(`account ${number}`),
  });
  const events = Array.from({ length: SIZES - 1 }, (_, at) => eventOf(at));
  const independent = new IndependentTree(
    { genesisHash: TEST_GENESIS_HASH, ...TEST_DEPLOYMENT },
    events,
  );
  const grown = new LeafTree(
    noEvents(networkLeaf(TEST_GENESIS_HASH, TEST_DEPLOYMENT.custodyProgram)),
  );
  for (let size = 1; size <= SIZES; size++) {
    if (size > 1) grown.add(BigInt(size - 1), Uint8Array.from(independent.leaves[size - 1] ?? []));
    const account = custodyConfigAccount(TEST_DEPLOYMENT, grown.events);
    const read = decodeCustodyConfigAccount(account, TEST_DEPLOYMENT);
    if ("fault" in read) throw new Error(read.fault);
    // The recursion of section 2.1 over the leaves, not the edge that both sides grow by.
    expect([size, rootOf(read.value)]).toEqual([
      size,
      hash32FromBytes(independent.rootOf(0, size)),
    ]);
  }
});

test("what the real program keeps at its first 100 sizes folds to the root of RFC 6962", () => {
  const known = new Map<string, Uint8Array>();
  let size = 0;
  for (const { account, leaf } of grownAccounts(100)) {
    known.set(rangeKey(size, size + 1), leafHashOf(leaf));
    size += 1;
    expect([size, foldOf(account)]).toEqual([
      size,
      hash32FromBytes(referenceRootOver(0, size, known)),
    ]);
  }
});

/** `bun run test:more log` has Go judge more of them. */
const LARGE = 20;

test(`from the largest size, those around 2^39 and ${LARGE} random ones on, each fold of what the real program keeps is the root of RFC 6962`, () => {
  for (const log of largeLogs(seededRandom(5), LARGE)) {
    const known = new Map(rangesIn(log));
    let { size } = log;
    expect(foldOf(log.before)).toBe(hash32FromBytes(referenceRootOver(0, size, known)));
    for (const { account, leaf } of log.grown) {
      known.set(rangeKey(size, size + 1), leafHashOf(leaf));
      size += 1;
      expect([size, foldOf(account)]).toEqual([
        size,
        hash32FromBytes(referenceRootOver(0, size, known)),
      ]);
    }
  }
});
