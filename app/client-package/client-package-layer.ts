import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { Effect, Layer } from "effect";
import { ClientPackage, ClientPackageUnavailable } from "../../ports/client-package.ts";
import { buildPackage } from "./build-package.ts";

/** The folder in the data directory where the package is built. */
const FOLDER = "client-package";

/**
 * The client package of these sources, built below `dataDir` at its first use, which takes some seconds. A build that
 * failed is tried again at the next use.
 */
export const clientPackageLayer = (dataDir: string): Layer.Layer<ClientPackage> =>
  Layer.sync(ClientPackage, () => {
    const folder = join(dataDir, FOLDER);
    let built: Promise<Uint8Array<ArrayBuffer>> | null = null;
    const build = async (): Promise<Uint8Array<ArrayBuffer>> => {
      await mkdir(folder, { recursive: true });
      // Workers of one service build beside each other.
      const place = await mkdtemp(join(folder, "build-"));
      try {
        const { path } = await buildPackage(place);
        return new Uint8Array(await readFile(path));
      } finally {
        await rm(place, { recursive: true, force: true });
      }
    };
    return {
      bytes: Effect.tryPromise({
        try: () => {
          built ??= build().catch((cause: unknown) => {
            built = null;
            throw cause;
          });
          return built;
        },
        catch: (cause) => new ClientPackageUnavailable({ cause }),
      }),
    };
  });
