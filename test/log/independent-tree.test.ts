import { expect, test } from "bun:test";
import { areConsistent, IndependentTree } from "./independent-tree.ts";
import { referenceProof, referenceRoot } from "../core/log/support/reference-tree.ts";

const NETWORK = {
  genesisHash: "11111111111111111111111111111111",
  custodyProgram: "11111111111111111111111111111111",
  attestorProgram: "11111111111111111111111111111111",
};
const eventsOf = (count: number, first = 0) =>
  Array.from({ length: count }, (_, at) => ({
    state: "Pending",
    address: NETWORK.genesisHash,
    data: Uint8Array.of(first, at),
  }));

test("its roots and consistency proofs are RFC 6962's, and only proofs of one tree verify", () => {
  const tree = new IndependentTree(NETWORK, eventsOf(40));
  const other = new IndependentTree(NETWORK, eventsOf(40, 1));
  for (let size = 1; size <= 41; size++) {
    const leaves = tree.leaves.slice(0, size);
    expect(tree.roots[size - 1]).toBe(referenceRoot(leaves).toHex());
    for (let old = 1; old <= size; old++) {
      const proof = tree.consistency(old, size);
      expect(proof.map((hash) => hash.toHex())).toEqual(
        referenceProof(old, leaves).map((hash) => hash.toHex()),
      );
      const [a, b] = [old, size].map((at) => ({ size: at, root: tree.roots[at - 1] ?? "" }));
      if (a === undefined || b === undefined) throw new Error("two heads");
      expect(areConsistent(a, b, proof)).toBe(true);
      if (old > 1)
        expect(areConsistent({ size: old, root: other.roots[old - 1] ?? "" }, b, proof)).toBe(
          false,
        );
      if (size > 1)
        expect(areConsistent(a, { size, root: other.roots[size - 1] ?? "" }, proof)).toBe(false);
    }
  }
});
