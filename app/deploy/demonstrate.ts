import { projectCommand } from "../../core/domain/project-command.ts";
import { fetchDirectly } from "../../client/service/fetch-directly.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { textNarrator } from "../demo/narrator.ts";
import { runPaidDemo } from "../demo/paid-demo.ts";
import { demoVerdict } from "../demo/run-demo.ts";
import { EX_UNAVAILABLE } from "../command-line/command-line.ts";
import type { DeployContext } from "./deploy-context.ts";
import { DeployStopped } from "./deploy-stopped.ts";
import type { Deployed } from "./run-deploy.ts";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
/** A first snapshot of a new program takes seconds. */
const READY_SECONDS = 120;
const POLL_MS = 200;

/**
 * The address that a service logs once it listens; undefined when its output ends before. The rest of the output is
 * dropped.
 */
const listeningUrl = (stdout: ReadableStream<Uint8Array>): Promise<string | undefined> => {
  const listening = Promise.withResolvers<string | undefined>();
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let text = "";
    let isListening = false;
    for await (const chunk of stdout) {
      if (isListening) continue;
      text += decoder.decode(chunk, { stream: true });
      const url = /"message":"listening","url":"([^"]+)"/.exec(text)?.[1];
      if (url === undefined) continue;
      isListening = true;
      listening.resolve(url);
    }
    listening.resolve(undefined);
  };
  read().catch(() => listening.resolve(undefined));
  return listening.promise;
};

const isReady = async (url: string): Promise<boolean> => {
  const answer = await fetchDirectly(`${url}/ready`).catch(() => null);
  await answer?.body?.cancel();
  return answer?.status === 200;
};

/**
 * Starts a service with the deployment's settings, on a free port and with a data folder of its own, tells the demo at
 * it, and stops it. @throws DeployStopped and SettlementError
 */
export const demonstrate = async (context: DeployContext, deployed: Deployed): Promise<void> => {
  const { say } = context;
  const dataDir = await mkdtemp(join(tmpdir(), "settlement-evidence-demo-"));
  // The settings come from the file alone: what is set around this command belongs to another service.
  const service = Bun.spawn([process.execPath, `--env-file=${deployed.envFile}`, MAIN], {
    cwd: dataDir,
    env: {
      PATH: process.env["PATH"] ?? "",
      PORT: "0",
      HOST: "127.0.0.1",
      DATA_DIR: dataDir,
      LOG_FORMAT: "json",
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  try {
    const url = await listeningUrl(service.stdout);
    if (url === undefined)
      throw new DeployStopped(
        1,
        `the service does not start with ${deployed.envFile}; ${projectCommand("doctor")} says what stands in its way`,
      );
    say(`a service with these settings runs at ${url} for the demo`);
    const deadline = performance.now() + READY_SECONDS * 1000;
    while (!(await isReady(url))) {
      if (performance.now() > deadline)
        throw new DeployStopped(
          EX_UNAVAILABLE,
          `the service is not ready within ${READY_SECONDS} s; ${projectCommand("doctor")} says what stands in its way`,
        );
      await Bun.sleep(POLL_MS);
    }
    const narrator = textNarrator(say, { full: false });
    say(demoVerdict(await runPaidDemo(context, url, deployed.mint, narrator)));
  } finally {
    service.kill("SIGTERM");
    await service.exited;
    await rm(dataDir, { recursive: true, force: true });
  }
};
