import {
  consistencyProof,
  inclusionProof,
  verifyConsistency,
  verifyInclusion,
} from "../../core/log/tree/tree-proofs.ts";
import type { TreeHead } from "../../core/log/tree/tree-edge.ts";
import { leafHash } from "../../core/log/tree/tree-hash.ts";
import { printHash } from "../../core/log/text-values.ts";
import { withFlippedBit } from "../core/log/support/reference-tree.ts";
import type { Question } from "./go-oracle.ts";
import { type LoggedTree, numberedLeaf } from "./logged-tree.ts";

/** A proof as core/log judges it, and as Go is asked about it. */
export type ProofCase = { readonly verifies: boolean; readonly question: Question };

type Inclusion = {
  readonly index: number;
  readonly leafHash: Uint8Array;
  readonly head: TreeHead;
  readonly proof: ReadonlyArray<Uint8Array>;
};
type Consistency = {
  readonly old: TreeHead;
  readonly head: TreeHead;
  readonly proof: ReadonlyArray<Uint8Array>;
};

const whole = (random: () => number, below: number): number => Math.floor(random() * below);

const anyInclusion = (tree: LoggedTree, random: () => number): Inclusion => {
  const size = 1 + whole(random, tree.size);
  const index = whole(random, size);
  return {
    index,
    leafHash: leafHash(numberedLeaf(index)),
    head: tree.headAt(size),
    proof: inclusionProof(index, size, tree.source),
  };
};

const anyConsistency = (tree: LoggedTree, random: () => number): Consistency => {
  const size = 1 + whole(random, tree.size);
  const old = 1 + whole(random, size);
  return {
    old: tree.headAt(old),
    head: tree.headAt(size),
    proof: consistencyProof(old, size, tree.source),
  };
};

const inclusionCase = ({ proof, ...claim }: Inclusion): ProofCase => ({
  verifies: verifyInclusion(claim, proof),
  question: {
    kind: "inclusion",
    size: claim.head.size,
    index: claim.index,
    root: printHash(claim.head.root),
    leaf: printHash(claim.leafHash),
    proof: proof.map(printHash),
  },
});

const consistencyCase = ({ old, head, proof }: Consistency): ProofCase => ({
  verifies: verifyConsistency(old, head, proof),
  question: {
    kind: "consistency",
    size: head.size,
    old: old.size,
    root: printHash(head.root),
    oldRoot: printHash(old.root),
    proof: proof.map(printHash),
  },
});

/** Proofs of random leaves and sizes, inclusion and consistency in turn. */
export const proofCases = (
  tree: LoggedTree,
  random: () => number,
  count: number,
): ReadonlyArray<ProofCase> =>
  Array.from({ length: count }, (_, i) =>
    i % 2 === 0
      ? inclusionCase(anyInclusion(tree, random))
      : consistencyCase(anyConsistency(tree, random)),
  );

/** The hashes with one bit of one of them turned. */
const flipped = (
  hashes: ReadonlyArray<Uint8Array>,
  random: () => number,
): ReadonlyArray<Uint8Array> => {
  const at = whole(random, hashes.length);
  const bit = whole(random, 256);
  return hashes.map((hash, i) => (i === at ? withFlippedBit(hash, bit) : hash));
};

/** Such proofs with one bit of a hash in them turned: of a leaf, a root or the path. */
export const flippedProofCases = (
  tree: LoggedTree,
  random: () => number,
  count: number,
): ReadonlyArray<ProofCase> =>
  Array.from({ length: count }, (_, i) => {
    if (i % 2 === 0) {
      const { index, head, ...right } = anyInclusion(tree, random);
      const [leaf, root, ...proof] = flipped([right.leafHash, head.root, ...right.proof], random);
      if (leaf === undefined || root === undefined) throw new Error("a hash went missing");
      return inclusionCase({ index, leafHash: leaf, head: { ...head, root }, proof });
    }
    const { old, head, proof: path } = anyConsistency(tree, random);
    const [oldRoot, root, ...proof] = flipped([old.root, head.root, ...path], random);
    if (oldRoot === undefined || root === undefined) throw new Error("a hash went missing");
    return consistencyCase({ old: { ...old, root: oldRoot }, head: { ...head, root }, proof });
  });
