import { type Checkpoint, parseCheckpoint } from "../../../core/log/checkpoint/checkpoint.ts";
import { tilePath, tilesOfRanges, tileSource } from "../../../core/log/tiles/tile-path.ts";
import { consistencyPath, consistencyProof } from "../../../core/log/tree/tree-proofs.ts";
import { rootAt } from "../../../core/log/tree/subtree.ts";
import { parseTlogSize, printAddCheckpoint } from "../../../core/log/witness/add-checkpoint.ts";

/** The published checkpoint of a service's log, as it stands in the signed note; null before the first. */
export const publishedBy = async (
  url: string,
): Promise<{ readonly note: string; readonly checkpoint: Checkpoint } | null> => {
  const answer = await fetch(`${url}/log/checkpoint`);
  const note = await answer.text();
  if (answer.status !== 200) return null;
  const parsed = parseCheckpoint(note);
  if ("fault" in parsed) throw new Error(parsed.fault);
  return { note, checkpoint: parsed.value.checkpoint };
};

/** The hashes of a log of `size` leaves, out of the tiles that it serves; those that ranges need. */
const hashesOf = async (url: string, size: number, ranges: Parameters<typeof tilesOfRanges>[0]) => {
  const tiles = new Map<string, Uint8Array>();
  for (const tile of tilesOfRanges(ranges, size)) {
    const answer = await fetch(`${url}/log/${tilePath(tile)}`);
    if (!answer.ok) throw new Error(`${tilePath(tile)} is answered with ${answer.status}`);
    tiles.set(tilePath(tile), await answer.bytes());
  }
  return tileSource(size, (tile) => tiles.get(tilePath(tile)) ?? new Uint8Array());
};

/** The proof that a log's tree of `size` leaves begins with the one of `oldSize`, out of the tiles that it serves. */
export const consistencyOf = async (url: string, oldSize: number, size: number) =>
  consistencyProof(oldSize, size, await hashesOf(url, size, consistencyPath(oldSize, size)));

/** The root over the first `size` leaves of a log that has at least as many, out of the tiles that it serves. */
export const rootOf = async (url: string, size: number): Promise<Uint8Array> =>
  rootAt(size, await hashesOf(url, size, [{ from: 0, to: size }]));

/** Offers the published checkpoint of a service's log to another service's witness, as the log itself would. */
export const offerToWitness = async (
  log: string,
  witness: string,
): Promise<{ readonly status: number; readonly text: string }> => {
  const published = await publishedBy(log);
  if (published === null) throw new Error("the log has published nothing");
  const { note, checkpoint } = published;
  const offer = async (oldSize: number) => {
    const proof = await consistencyOf(log, oldSize, checkpoint.size);
    const body = printAddCheckpoint({ oldSize, proof, checkpoint: note });
    const answer = await fetch(`${witness}/witness/add-checkpoint`, { method: "POST", body });
    return { status: answer.status, text: await answer.text() };
  };
  const first = await offer(0);
  const known = first.status === 409 ? parseTlogSize(first.text) : undefined;
  return known === undefined ? first : offer(known);
};
