import { expect } from "bun:test";
import { parseCheckpointText } from "../../../core/log/checkpoint/checkpoint.ts";
import type { IndependentTree } from "../independent-tree.ts";

/** Every root that a schedule's processes have signed, whichever of them did. */
export class SignedRoots {
  /** How often something was signed. */
  times = 0;
  readonly #roots = new Map<string, string>();

  /** Notes a text that a key signed. Throws at a second root of a size. */
  readonly note = (text: string): void => {
    const parsed = parseCheckpointText(text);
    if ("fault" in parsed) throw new Error(parsed.fault);
    const { origin, size, root } = parsed.value;
    const hex = Buffer.from(root).toString("hex");
    const before = this.#roots.get(`${origin} ${size}`);
    if (before !== undefined && before !== hex) throw new Error(`two roots of size ${size}`);
    this.#roots.set(`${origin} ${size}`, hex);
    this.times += 1;
  };

  /** Expects that all of them are a tree's, and that the tree is signed to its end. */
  expectOf(tree: IndependentTree): void {
    const own = `log.example/log/${tree.networkId}/0`;
    for (const [key, root] of this.#roots) {
      const [origin = "", size = ""] = key.split(" ");
      expect(origin).toBe(own);
      expect(root, `the signed root of size ${size}`).toBe(tree.roots[Number(size) - 1] ?? "");
    }
    expect(this.#roots.has(`${own} ${tree.leaves.length}`)).toBe(true);
  }
}
