import { afterAll, beforeAll, expect, test } from "bun:test";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { provideSha256 } from "../../core/domain/sha256.ts";
import { parseHashes, printHash } from "../../core/log/text-values.ts";
import { consistencyProof, verifyConsistency } from "../../core/log/tree/consistency-proof.ts";
import { inclusionProof, verifyInclusion } from "../../core/log/tree/inclusion-proof.ts";
import { rootAt } from "../../core/log/tree/subtree.ts";
import { emptyRoot, leafHash } from "../../core/log/tree/tree-hash.ts";
import { seededRandom } from "../arbitraries/seeded-random.ts";
import { withFlippedBit } from "../core/log/support/reference-tree.ts";
import { buildLog, leafAt } from "./built-log.ts";
import { type Answer, fromRun, inBatches, startOracle } from "./oracle.ts";
import { drawSize } from "./sizes.ts";

provideSha256(sha256Bun);

const LEAVES = fromRun("LOG_LEAVES");
const PROOFS = fromRun("LOG_PROOFS") / 2;
const SEED = fromRun("LOG_SEED") % 256;
/** All pairs up to this size are tried, random ones above. */
const ALL_UP_TO = Math.min(96, Math.floor(Math.sqrt(PROOFS)));
const oracle = startOracle();
const log = buildLog(LEAVES, SEED);
const headAt = (size: number) => ({ size, root: rootAt(size, log.at(size)) });

beforeAll(async () => {
  const [grown] = await oracle.ask([{ op: "grow", count: LEAVES, seed: SEED }]);
  expect(grown?.root).toBe(printHash(log.head.root));
});
afterAll(oracle.stop);

/** A number below the size, and a size: `first` for its lowest number is 0 or 1. */
type Pair = { readonly low: number; readonly size: number };
const pairs = (first: 0 | 1, random: () => number): ReadonlyArray<Pair> => {
  const all: Array<Pair> = [];
  for (let size = 1; size <= ALL_UP_TO; size++)
    for (let low = first; low < size + first; low++) all.push({ low, size });
  while (all.length < PROOFS) {
    const size = drawSize(random, LEAVES);
    all.push({ low: first + Math.floor(random() * size), size });
  }
  return all.slice(0, PROOFS);
};

const hashesOf = ({ proof }: Answer): ReadonlyArray<Uint8Array> => {
  const hashes = parseHashes(proof ?? []);
  if (hashes === undefined) throw new Error("a proof without hashes");
  return hashes;
};

/** A proof with one bit turned; undefined for one without hashes. */
const damaged = (
  proof: ReadonlyArray<Uint8Array>,
  random: () => number,
): ReadonlyArray<Uint8Array> | undefined => {
  const at = Math.floor(random() * proof.length);
  const bit = Math.floor(random() * 256);
  return proof.length === 0
    ? undefined
    : proof.map((hash, i) => (i === at ? withFlippedBit(hash, bit) : hash));
};

test("roots are equal at every size up to 4,096, and at sizes above", async () => {
  const upTo = Math.min(4096, LEAVES);
  const random = seededRandom(fromRun("LOG_SEED"));
  const sizes = Array.from({ length: 200 }, () => drawSize(random, LEAVES));
  const [every, ...some] = await oracle.ask([
    { op: "roots", old: 0, size: upTo },
    ...sizes.map((size) => ({ op: "roots", old: size, size })),
  ]);
  const own = Array.from({ length: upTo + 1 }, (_, size) =>
    printHash(size === 0 ? emptyRoot() : headAt(size).root),
  );
  expect(every?.roots).toEqual(own);
  expect(some.map(({ roots }) => roots)).toEqual(
    sizes.map((size) => [printHash(headAt(size).root)]),
  );
});

/** A pair's proof, how it is verified here, and the same proof with one bit turned. */
const caseOf = (op: "inclusion" | "consistency", { low, size }: Pair, random: () => number) => {
  const head = headAt(size);
  const isInclusion = op === "inclusion";
  const proof = isInclusion
    ? inclusionProof(low, size, log.at(size))
    : consistencyProof(low, size, log.at(size));
  const verifies = isInclusion
    ? (given: ReadonlyArray<Uint8Array>) =>
        verifyInclusion({ index: low, leafHash: leafHash(leafAt(low, SEED)), head }, given)
    : (given: ReadonlyArray<Uint8Array>) => verifyConsistency(headAt(low), head, given);
  const other = damaged(proof, random);
  return { proof, verifies, other, place: isInclusion ? { index: low } : { old: low }, size };
};

test.each([
  ["inclusion", 0],
  ["consistency", 1],
] as const)(
  `${PROOFS} proofs of %s agree`,
  async (op, first) => {
    const random = seededRandom(fromRun("LOG_SEED") + first);
    let verified = 0;
    let refused = 0;
    for (const batch of inBatches(pairs(first, random))) {
      const cases = batch.map((pair) => caseOf(op, pair, random));
      const questions = cases.map(({ proof, place, size }) => ({
        op,
        ...place,
        size,
        proof: proof.map(printHash),
      }));
      const answers = await oracle.ask(questions);
      const damages = cases.flatMap(({ other, place, size }) =>
        other === undefined ? [] : [{ op, ...place, size, proof: other.map(printHash) }],
      );
      const refusals = await oracle.ask(damages);
      expect(refusals.filter((answer) => answer.verifies || answer.fault !== undefined)).toEqual(
        [],
      );
      refused += refusals.length;
      for (const [i, { proof, verifies, other, place, size }] of cases.entries()) {
        const answer = answers[i];
        if (answer === undefined) throw new Error("an answer is missing");
        const agrees =
          answer.verifies &&
          verifies(hashesOf(answer)) &&
          verifies(proof) &&
          (other === undefined || !verifies(other)) &&
          proof.map(printHash).join() === (answer.proof ?? []).join();
        if (!agrees) throw new Error(`${op} ${JSON.stringify({ ...place, size, answer })}`);
        verified += 1;
      }
    }
    expect(verified).toBe(PROOFS);
    expect(refused).toBeGreaterThan(PROOFS / 2);
  },
  3_600_000,
);
