import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { localGenesis } from "../../../adapters/local-ledger/genesis/genesis.ts";
import { openLedger } from "../../../adapters/local-ledger/runtime/ledger.ts";
import { tmpdir } from "../../temporary-root.ts";
import { quietEnvironment, runService, temporaryDirectory, untilReady } from "./running-service.ts";

type File = { readonly name: string; readonly bytes: Uint8Array };

let files: ReadonlyArray<File> | undefined;

/** The files of a closed ledger with the demo data. Made once per test process. */
const demoFiles = (): ReadonlyArray<File> => {
  if (files !== undefined) return files;
  const directory = mkdtempSync(join(tmpdir(), "demo-ledger-"));
  openLedger({ directory, genesis: localGenesis({ demo: true }) }).close();
  files = readdirSync(directory).map((name) => ({
    name,
    bytes: readFileSync(join(directory, name)),
  }));
  rmSync(directory, { recursive: true });
  return files;
};

/**
 * Puts the demo data's ledger into a data directory and returns the directory. A service that starts there need not
 * make its ledger, which is more than half the cost of its start.
 */
export const withDemoLedger = (dataDir: string): string => {
  const folder = join(dataDir, "local-ledger");
  mkdirSync(folder, { recursive: true });
  for (const { name, bytes } of demoFiles()) writeFileSync(join(folder, name), bytes);
  return dataDir;
};

/** A ready service in this process on the demo data's ledger; `data` in its directory is the service's own. */
export const demoService = async () => {
  const directory = await temporaryDirectory();
  const service = await runService(quietEnvironment(withDemoLedger(join(directory.path, "data"))));
  await untilReady(service.url);
  const end = async (): Promise<void> => {
    await service.stop();
    await directory.remove();
  };
  return { directory, service, end };
};
