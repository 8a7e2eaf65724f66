import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { clientPackageLayer } from "../../../app/client-package/client-package-layer.ts";
import { ClientPackage } from "../../../ports/client-package.ts";
import { temporaryDirectory } from "../support/running-service.ts";

test("two workers that build the package in one data directory at once have the same bytes, and leave nothing there", async () => {
  const directory = await temporaryDirectory();
  const bytesOfWorker = ClientPackage.use(({ bytes }) => bytes).pipe(
    Effect.provide(clientPackageLayer(directory.path), { local: true }),
  );
  const [one, other] = await Effect.runPromise(
    Effect.all([bytesOfWorker, bytesOfWorker], { concurrency: 2 }),
  );
  expect(one.length).toBeGreaterThan(10_000);
  expect(Bun.deepEquals(one, other)).toBe(true);
  expect(readdirSync(join(directory.path, "client-package"))).toEqual([]);
  await directory.remove();
}, 180_000);
