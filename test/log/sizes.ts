/** Sizes beside which tiles and subtrees fill. */
const EDGES = [2, 64, 128, 256, 512, 4096, 65_536, 131_072, 1_048_576];

/** A size from 1 to `max`: a third small, a third any, a third within 2 of an edge. */
export const drawSize = (random: () => number, max: number): number => {
  const below = (limit: number): number => Math.floor(random() * limit);
  const edge = (EDGES[below(EDGES.length)] ?? 2) + below(5) - 2;
  const sizes = [1 + below(Math.min(max, 4096)), 1 + below(max), Math.max(1, edge)];
  return Math.min(max, sizes[below(sizes.length)] ?? 1);
};
