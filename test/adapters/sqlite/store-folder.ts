import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Effect, Layer } from "effect";
import { tmpdir } from "../../temporary-root.ts";

const makeFolder = (): string => mkdtempSync(join(tmpdir(), "store-"));

/** A store's layer in a new folder that goes with it. */
export const inOwnFolder = <A, E, R = never>(
  layerAt: (folder: string) => Layer.Layer<A, E, R>,
): Layer.Layer<A, E, R> =>
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(Effect.sync(makeFolder), (folder) =>
        Effect.sync(() => rmSync(folder, { recursive: true })),
      ),
      layerAt,
    ),
  );
