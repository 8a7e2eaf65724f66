import { decodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { hash32FromBytes, hash32ToBytes, parseHash32 } from "../../../../core/domain/hash32.ts";
import { leafHash, nodeHash } from "../../../../core/log/tree/tree-hash.ts";
import type { LogLeafRecord } from "../../log/read-leaf.ts";
import { html, type Html } from "../shell/html.ts";
import { key, notice, table } from "../shell/parts.ts";

/** One step from a leaf to the root: a sibling, on which side it is, and the parent that was hashed of both. */
type PathStep = {
  readonly sibling: string;
  readonly leaves: string;
  readonly isRight: boolean;
  readonly parent: string;
};

/** The way from a leaf's bytes to a root, hashed here; null where the leaf or a hash cannot be read. */
export const climb = ({ index, leaf, path }: Pick<LogLeafRecord, "index" | "leaf" | "path">) => {
  const bytes = decodeBase64(leaf);
  if (bytes === undefined) return null;
  const start = leafHash(bytes);
  let own = start;
  const steps: Array<PathStep> = [];
  for (const { hash, from, to } of path) {
    const sibling = parseHash32(hash);
    if (sibling === undefined) return null;
    const isRight = from > index;
    const beside = hash32ToBytes(sibling);
    own = isRight ? nodeHash(own, beside) : nodeHash(beside, own);
    const leaves = to - from === 1 ? `leaf ${from}` : `leaves ${from} to ${to - 1}`;
    steps.push({ sibling, leaves, isRight, parent: hash32FromBytes(own) });
  }
  return { start: hash32FromBytes(start), steps, root: hash32FromBytes(own) };
};

const WIDTH = 360;
const MIDDLE = WIDTH / 2;
/** Between a node and its parent. */
const STEP = 74;
const BOX = { width: 104, height: 26 };
/** From a node down to the foot of its label. */
const LABEL = 16;
/** How far a sibling stands from the middle. */
const ASIDE = 122;

const short = (hash: string): string => `${hash.slice(0, 6)}…${hash.slice(-4)}`;

const node = (x: number, y: number, hash: string, label: string, isOwn: boolean): Html =>
  html`<rect
      class="${isOwn && "own"}"
      x="${x - BOX.width / 2}"
      y="${y}"
      width="${BOX.width}"
      height="${BOX.height}"
      rx="5"
    />
    <text class="hash" x="${x}" y="${y + 17}" text-anchor="middle">${short(hash)}</text>
    <text x="${x}" y="${y + BOX.height + LABEL}" text-anchor="middle">${label}</text>`;

const drawing = (index: number, start: string, steps: ReadonlyArray<PathStep>): Html => {
  const height = steps.length * STEP + BOX.height + LABEL + 6;
  const top = (level: number): number => 2 + (steps.length - level) * STEP;
  const drawn = steps.map(({ sibling, leaves, isRight, parent }, level) => {
    const x = MIDDLE + (isRight ? ASIDE : -ASIDE);
    const label = level + 1 === steps.length ? "root" : "";
    const meet = top(level + 1) + BOX.height + (label === "" ? 0 : LABEL + 5);
    return html`<line x1="${MIDDLE}" y1="${top(level)}" x2="${MIDDLE}" y2="${meet}" />
      <line x1="${x}" y1="${top(level)}" x2="${MIDDLE}" y2="${meet}" />
      ${node(x, top(level), sibling, leaves, false)}
      ${node(MIDDLE, top(level + 1), parent, label, true)}`;
  });
  return html`<svg
    class="chart path"
    role="img"
    aria-label="The way from leaf ${index} up to the root in ${steps.length} steps; the table below has the hashes"
    viewBox="0 0 ${WIDTH} ${height}"
  >
    ${drawn} ${node(MIDDLE, top(0), start, `leaf ${index}`, true)}
  </svg>`;
};

/** The way from a leaf to the published root, drawn, as a table, and whether it leads there. */
export const leafPath = (leaf: LogLeafRecord): Html => {
  const { index, checkpoint } = leaf;
  const climbed = climb(leaf);
  const leads = climbed !== null && climbed.root === checkpoint.root;
  if (!leads)
    return notice("bad", "The hashes do not lead to the published root: the proof does not hold.");
  const { start, steps } = climbed;
  return html`${notice(
    "good",
    html`Each parent was hashed anew here, and the last one is the published root of
    ${checkpoint.size} leaves: the log holds this leaf.`,
  )}
  ${drawing(index, start, steps)}
  ${table({
    caption: `From leaf ${index} to the root, a step a row`,
    head: ["Step", "Hashed with", "Which covers", "On the", "Gives"],
    rows: steps.map(({ sibling, leaves, isRight, parent }, at) => [
      at + 1,
      key(sibling),
      leaves,
      isRight ? "right" : "left",
      key(parent),
    ]),
    empty: "The log has this leaf only: its hash is the root.",
  })}`;
};
