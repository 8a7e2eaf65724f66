import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Layer } from "effect";

/** Linux keeps files under it in memory. */
const IN_MEMORY = "/dev/shm";

const makeFolder = (): string => {
  try {
    return mkdtempSync(join(IN_MEMORY, "store-"));
  } catch {
    return mkdtempSync(join(tmpdir(), "store-"));
  }
};

/**
 * A store's layer in a new folder that goes with it; in memory where that can be, since what a contract asks does
 * not depend on the disk, and waiting for a disk is most of the time it takes to ask.
 */
export const inOwnFolder = <A, E>(
  layerAt: (folder: string) => Layer.Layer<A, E>,
): Layer.Layer<A, E> =>
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(Effect.sync(makeFolder), (folder) =>
        Effect.sync(() => rmSync(folder, { recursive: true })),
      ),
      layerAt,
    ),
  );
