import { expect, test } from "bun:test";
import { leavesOfEscrow, leavesOfTombstone } from "../../../core/log/leaf/escrow-leaves.ts";
import { networkLeaf } from "../../../core/log/leaf/event-leaf.ts";
import { LeafTree } from "../../../core/log/leaf/leaf-tree.ts";
import { edgeOf, eventsIn, noEvents, rootOf } from "../../../core/log/tree/frontier.ts";
import { TreeEdge } from "../../../core/log/tree/tree-edge.ts";
import { leafHash } from "../../../core/log/tree/tree-hash.ts";
import { decodeArchivedEscrowAccount } from "../../../core/protocol/accounts/archived-escrow-account.ts";
import { decodeCustodyConfigAccount } from "../../../core/protocol/accounts/settings-accounts.ts";
import { CUSTODY_ACCOUNTS } from "../../../core/protocol/generated/custody.ts";
import { custodyConfigAddress, escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { hash32FromBytes, hash32ToBytes } from "../../../core/domain/hash32.ts";
import { sha256 } from "../../../core/domain/sha256.ts";
import { seededRandom } from "../../arbitraries/seeded-random.ts";
import { IndependentTree, type LedgerEvent } from "../../log/independent-tree.ts";
import * as s from "../fixture/settlement.ts";
import {
  attest,
  attestPart,
  cancel,
  EXPIRY,
  refund,
  release,
} from "../fixture/settlement-attempts.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";

const CONFIG = custodyConfigAddress(s.deployment).address;
const NOTHING = noEvents(networkLeaf(s.genesisHash, s.deployment.custodyProgram));

const configOf = (ledger: TestLedger) => {
  const decoded = decodeCustodyConfigAccount(ledger.account(CONFIG), s.deployment);
  if ("fault" in decoded) throw new Error(decoded.fault);
  return decoded.value;
};

const ENDINGS = [
  ["release", s.START + 7n, [attest, release], s.stranger],
  ["partial release", s.START + 7n, [attestPart(2n), release], s.stranger],
  ["refund", EXPIRY, [refund], s.stranger],
  ["cancellation", s.START + 7n, [cancel], s.merchant],
] as const;

test.each(ENDINGS)(
  "the leaves of one account have the ledger's root: %s",
  (_, time, instructions, by) => {
    const ledger = s.escrowLedger();
    const rootOfLeaves = (leaves: ReturnType<typeof leavesOfEscrow>) => {
      const tree = new LeafTree(NOTHING);
      for (const { seq, leaf } of leaves) tree.add(seq, leaf);
      expect(tree.missingTo(BigInt(leaves.length))).toBe(0n);
      return tree.root;
    };
    const rootOfAccount = () =>
      rootOfLeaves(leavesOfEscrow(s.readEscrow(ledger), ledger.account(s.escrow).data));
    expect(rootOf(configOf(ledger))).toBe(rootOfAccount());
    ledger.time = time;
    ledger.do([...instructions], [by]);
    const settled = rootOfAccount();
    expect(configOf(ledger).count).toBe(2n);
    expect(rootOf(configOf(ledger))).toBe(settled);

    ledger.time = time + 604_800n;
    ledger.do([s.archiveInstruction(ledger)], [s.stranger]);
    const tombstone = decodeArchivedEscrowAccount(ledger.account(s.escrow), s.deployment);
    if ("fault" in tombstone) throw new Error(tombstone.fault);
    expect(rootOfLeaves(leavesOfTombstone(s.escrow, tombstone.value))).toBe(settled);
  },
);

/** How many events' roots are compared; `bun run test:more programs` takes 2,000. */
const EVENTS = Number(process.env["LOG_EVENTS"] ?? 200);

const taskOf = (number: number) =>
  hash32FromBytes(sha256(new TextEncoder().encode(`task ${number}`)));

/** Creates an escrow that nobody created before, and tells what the ledger logged. */
const createAnother = (ledger: TestLedger, number: number) => {
  ledger.fund(s.agent.address);
  const taskHash = taskOf(number);
  ledger.do([s.createInstruction({ taskHash, amount: 1n })], [s.agent]);
  const { address } = escrowAddress(s.deployment, s.agent.address, taskHash);
  return { state: "Pending", address, data: ledger.account(address).data } satisfies LedgerEvent;
};

test(`after each of ${EVENTS} events the account's frontier folds to the root of RFC 6962`, () => {
  const ledger = s.merchantLedger();
  const network = { genesisHash: s.genesisHash, ...s.deployment };
  expect(rootOf(configOf(ledger))).toBe(
    hash32FromBytes(rootHex(new IndependentTree(network, []), 1)),
  );
  const events: Array<LedgerEvent> = [];
  const folded: Array<string> = [];
  for (let number = 1; number <= EVENTS; number++) {
    events.push(createAnother(ledger, number));
    folded.push(rootOf(configOf(ledger)));
  }
  const tree = new IndependentTree(network, events);
  expect(folded).toEqual(tree.roots.slice(1));
}, 300_000);

const rootHex = (tree: IndependentTree, size: number): Uint8Array =>
  Uint8Array.fromHex(tree.roots[size - 1] ?? "");

/** Makes the ledger's log one of `size` leaves, with any hashes for its perfect subtrees and for what means nothing. */
const plantLog = (ledger: TestLedger, size: bigint, random: () => number): void => {
  const { data } = ledger.account(CONFIG);
  const { count, frontier } = CUSTODY_ACCOUNTS.CustodyConfig.at;
  new DataView(data.buffer, data.byteOffset).setBigUint64(count, size, true);
  for (let at = frontier; at < data.length; at++) data[at] = Math.floor(random() * 256);
  ledger.put(CONFIG, s.deployment.custodyProgram, data);
};

test("from random large counts on, the account's root is that of the tree with its leaves appended", () => {
  const random = seededRandom(3);
  const ledger = s.merchantLedger();
  for (let round = 0; round < EVENTS / 10; round++) {
    const bits = 1 + Math.floor(random() * 39);
    plantLog(ledger, BigInt(Math.floor(random() * 2 ** bits)) + 2n ** BigInt(bits - 1), random);
    const before = edgeOf(configOf(ledger));
    const edge = new TreeEdge(before.size, before.roots);
    for (let more = 0; more < 3; more++) {
      const { address } = createAnother(ledger, 10_000 + 3 * round + more);
      const [created] = leavesOfEscrow(s.readEscrow(ledger, address), ledger.account(address).data);
      if (created === undefined) throw new Error("an escrow has a leaf");
      expect(created.seq).toBe(BigInt(edge.size));
      edge.append(leafHash(created.leaf));
      expect(rootOf(configOf(ledger))).toBe(hash32FromBytes(edge.root()));
      expect(rootOf(eventsIn(edge))).toBe(hash32FromBytes(edge.root()));
    }
  }
}, 300_000);

test("a log of 2^40 - 1 leaves is full: no event is numbered any more", () => {
  const random = seededRandom(4);
  const ledger = s.escrowLedger();
  plantLog(ledger, 2n ** 40n - 2n, random);
  createAnother(ledger, 1);
  expect(configOf(ledger).count).toBe(2n ** 40n - 2n);
  const full = ledger.account(CONFIG).data;
  const create = s.createInstruction({ taskHash: taskOf(2) });
  expect(ledger.send([create], [s.agent]).refusal).toBe("6038 TooManyEvents");
  expect(ledger.send([attest, release], [s.stranger]).refusal).toBe("6038 TooManyEvents");
  expect(ledger.send([cancel], [s.merchant]).refusal).toBe("6038 TooManyEvents");
  expect(ledger.account(CONFIG).data).toEqual(full);
});

test("the domain names the ledger and the program", () => {
  const { domain } = configOf(s.initializedLedger());
  const leaf = networkLeaf(s.genesisHash, s.deployment.custodyProgram);
  expect(leaf).toEqual(Uint8Array.of(0, ...hash32ToBytes(domain)));
});
