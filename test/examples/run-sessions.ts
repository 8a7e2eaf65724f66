import { join } from "node:path";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { spawnLedger } from "../adapters/local-ledger/ledger-process.ts";
import { withDemoLedger } from "../app/support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  untilReady,
} from "../app/support/running-service.ts";
import { SESSION } from "./languages.ts";
import { startExample } from "./start-example.ts";

/** Runs one step of the sessions' example over a service of the folder. Gives its last line. */
const step = async (folder: string, env: Readonly<Record<string, string>>): Promise<string> => {
  const service = await runService(quietEnvironment(folder));
  try {
    await untilReady(service.url);
    const TRUST_FILE = join(folder, "trust.json");
    if (env["STEP"] === "open") {
      const trust = await fetch(`${service.url}/.well-known/evidence-trust.json`);
      await Bun.write(TRUST_FILE, await trust.text());
    }
    const { genesis_hash: GENESIS } = await Bun.file(TRUST_FILE).json();
    const CUSTODY = LOCAL_DEPLOYMENT.custodyProgram;
    const more = { ...env, SERVICE: service.url, CUSTODY, GENESIS, TRUST_FILE };
    return await startExample(SESSION, more).finish("");
  } finally {
    await service.stop();
  }
};

/**
 * Runs both steps of examples/session.py, with eight days that the ledger skips between them.
 * @returns The last line of the second one.
 * @throws Error with what a step printed when it fails.
 */
export const runSessions = async (): Promise<string> => {
  const directory = await temporaryDirectory();
  try {
    withDemoLedger(directory.path);
    const SESSIONS = await step(directory.path, { STEP: "open" });
    const { child } = await spawnLedger(directory.path, "--skip-days", "8");
    child.kill("SIGTERM");
    await child.exited;
    return await step(directory.path, { STEP: "later", SESSIONS });
  } finally {
    await directory.remove();
  }
};
