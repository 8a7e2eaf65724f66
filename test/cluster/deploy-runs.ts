import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAddress } from "../../core/domain/address.ts";
import type { Address } from "../../core/domain/address.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";

const DEPLOY = fileURLToPath(new URL("../../app/commands/deploy.ts", import.meta.url));

/**
 * Runs `bun run deploy` with a folder of its own and returns what it said, which is also shown. @throws Error when it
 * fails.
 */
const deploy = async (
  rpc: string,
  payer: string,
  folder: string,
  ...more: ReadonlyArray<string>
): Promise<string> => {
  const child = Bun.spawn(
    [
      process.execPath,
      DEPLOY,
      `--rpc=${rpc}`,
      `--payer-key=${payer}`,
      "--new-payer",
      "--airdrop",
      "--new-mint",
      "--yes",
      `--keys=${join(folder, "keys")}`,
      `--env-file=${join(folder, ".env")}`,
      ...more,
    ],
    { stdin: "ignore", stdout: "pipe", stderr: "inherit" },
  );
  const decoder = new TextDecoder();
  let said = "";
  for await (const chunk of child.stdout) {
    process.stdout.write(chunk);
    said += decoder.decode(chunk, { stream: true });
  }
  const code = await child.exited;
  if (code !== 0) throw new Error(`the deployment ended with ${code}`);
  return said;
};

const expectSaid = (said: string, what: string): void => {
  if (!said.includes(what)) throw new Error(`the deployment did not say "${what}"`);
};

/** What was deployed, as the environment file in a folder says. */
const deployedIn = async (folder: string): Promise<{ deployment: Deployment; mint: Address }> => {
  const text = await readFile(join(folder, ".env"), "utf8");
  const addressIn = (name: string): Address => {
    const found = new RegExp(`^${name}=(\\w+)`, "m").exec(text)?.[1];
    const address = found === undefined ? undefined : parseAddress(found);
    if (address === undefined) throw new Error(`the deployment wrote no ${name}`);
    return address;
  };
  return {
    deployment: {
      custodyProgram: addressIn("CUSTODY_PROGRAM_ID"),
      attestorProgram: addressIn("ATTESTOR_PROGRAM_ID"),
    },
    mint: addressIn("SUPPORTED_MINTS"),
  };
};

/**
 * Deploys with a new mint, initialises, tells the demo, and deploys again, which must spend nothing. Returns what
 * stands and the seconds that the first run took. @throws Error with what failed.
 */
export const deployTwice = async (rpc: string, payer: string, folder: string) => {
  const startedMs = performance.now();
  expectSaid(await deploy(rpc, payer, folder, "--demo"), "was refunded;");
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const again = await deploy(rpc, payer, folder);
  expectSaid(again, "nothing is left to deploy");
  expectSaid(again, "spent 0 lamports");
  return { ...(await deployedIn(folder)), seconds };
};
