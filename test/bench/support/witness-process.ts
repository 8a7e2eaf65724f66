import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";

const CLI = `${import.meta.dir}/../../../app/commands/cli.ts`;

/** A witness and what it needs: a folder, its number, the log's `VKEY URL` and a node. */
type Started = {
  readonly folder: string;
  readonly number: number;
  readonly log: string;
  readonly rpcUrl: string;
};

/**
 * A witness as its operator runs it, `bun run cli witness`, and the line of it for policies, once it listens. It has
 * nothing on disk but its key.
 */
export const startWitness = async ({ folder, number, log, rpcUrl }: Started) => {
  const own = join(folder, `witness-${number}`);
  mkdirSync(own);
  const save = (name: string, text: string): string => {
    const path = join(own, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const child = Bun.spawn([process.execPath, CLI, "witness"], {
    env: {
      PATH: process.env["PATH"] ?? "",
      SOLANA_RPC_URL: rpcUrl,
      CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
      ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
      WITNESS_LOGS: save("logs.txt", `${log}\n`),
      WITNESS_KEY_FILE: save("key", Buffer.alloc(32, 100 + number).toString("base64")),
      WITNESS_NAME: `witness-${number}.example`,
      DATA_DIR: join(own, "data"),
      PORT: "0",
      LOG_LEVEL: "info",
      LOG_FORMAT: "json",
    },
    stdout: "pipe",
    stderr: "inherit",
  });
  let output = "";
  const listening = Promise.withResolvers<string>();
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      output += decoder.decode(chunk, { stream: true });
      const policy = /"policy":"([^"]+)"/.exec(output)?.[1];
      if (policy !== undefined) listening.resolve(policy);
    }
    listening.reject(new Error(`the witness ended before it listened: ${output}`));
  })();
  return {
    pid: child.pid,
    policy: await listening.promise,
    stop: async (): Promise<void> => {
      child.kill();
      await child.exited;
      await reading;
    },
  };
};
