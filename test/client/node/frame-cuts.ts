import { open } from "node:fs/promises";
import { FIRST_FRAME, formOf, framesIn } from "../../../client/node/frames.ts";

/** A frame's head and some bytes of its payload. */
const NEAR = 24;
/** A cut amid a payload is like its neighbours: the frame is not whole. */
const STRIDE = 16;

/**
 * Lengths to cut a file of frames to, from one length to the whole: each near where a frame begins or ends, and some of
 * those between.
 */
export const frameCuts = async (path: string, from: number): Promise<ReadonlyArray<number>> => {
  await using file = await open(path);
  const { size } = await file.stat();
  const begin = Buffer.alloc(8);
  await file.read(begin, 0, begin.length, 0);
  const form = await formOf(file, begin.toString("latin1"));
  if (form === undefined) throw new Error(`${path} holds no frames`);
  const edges = [FIRST_FRAME];
  for await (const { end } of framesIn(file, form, size)) edges.push(end);
  if (edges.at(-1) !== size) throw new Error(`${path} does not end with a frame`);
  return Array.from({ length: size - from + 1 }, (_, n) => from + n).filter(
    (length) => length % STRIDE === 0 || edges.some((edge) => Math.abs(edge - length) <= NEAR),
  );
};
