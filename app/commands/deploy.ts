import { foreignLines } from "../../core/domain/encoding/foreign-text.ts";
import { SettlementError } from "../../client/settlement-error.ts";
import { demoExitCode } from "../demo/expected.ts";
import { demonstrate } from "../deploy/demonstrate.ts";
import { deployOptions } from "../deploy/inputs/deploy-options.ts";
import { DeployStopped } from "../deploy/deploy-stopped.ts";
import { runDeploy } from "../deploy/run-deploy.ts";
import { exitWith, readCommandLine } from "../command-line/command-line.ts";

const HELP = `Deploys both programs to a cluster, initialises them and writes the service's settings. Run it again after
a stop: it goes on where it stopped, and upgrades what differs from the built files. Where the payer may not upgrade a program,
it writes the file into a buffer for whoever may, and says what that authority must sign.

usage: bun run deploy --rpc URL --payer-key FILE [options]

  --rpc URL        a node of the cluster
  --second-rpc URL another one, of another operator: it must show the same genesis hash, which the programs keep for good
  --payer-key FILE the key that pays and may upgrade, as solana-keygen writes it, mode 0600
  --new-payer      makes FILE where there is none
  --airdrop        asks the cluster's faucet for what the payer lacks
  --mint ADDRESS   the mint whose deliveries count          (USDC where the cluster has it)
  --new-mint       makes one, with six decimals, under the payer's authority
  --admin WHO      admin of the merchant registry, an address or the file of its key   (asked for; the payer)
  --authority ADDRESS   then gives the right to upgrade both programs to this address, such as a multisig's
  --final          then takes it from everybody for good; asks for the word "final"
  --yes            agrees to the cost, and to what becomes of that right; without a terminal it is needed
  --keys DIR       where program keys are kept, in DIR/<genesis hash>   (./deploy-keys)
  --env-file FILE  where the settings are written           (./.env)
  --custody ID, --attestor ID   upgrades these programs; no program key is needed
  --new-programs   deploys a second pair where the file of settings names another than DIR holds the keys of
  --sbpf v0|v3     deploys this version of the bytecode     (the newest that the cluster takes)
  --priority-fee N micro-lamports offered for each compute unit, said in the cost   (what recent blocks took)
  --demo           then starts a service with these settings, and shows two escrows' lives on it
  --help           this text

Ends with 0 when everything stands or waits for that signature, 2 when nobody agreed to the cost, 64, 66, 69 or 1 for a mistake, which one line names.
`;

const { values } = readCommandLine(HELP, {
  rpc: { type: "string" },
  "second-rpc": { type: "string" },
  "payer-key": { type: "string" },
  "new-payer": { type: "boolean", default: false },
  airdrop: { type: "boolean", default: false },
  mint: { type: "string" },
  "new-mint": { type: "boolean", default: false },
  admin: { type: "string" },
  authority: { type: "string" },
  final: { type: "boolean", default: false },
  yes: { type: "boolean", default: false },
  keys: { type: "string", default: "./deploy-keys" },
  "env-file": { type: "string", default: "./.env" },
  custody: { type: "string" },
  attestor: { type: "string" },
  sbpf: { type: "string" },
  demo: { type: "boolean", default: false },
  "priority-fee": { type: "string" },
  "new-programs": { type: "boolean", default: false },
});
const say = (line: string): void => void process.stdout.write(`${foreignLines(line)}\n`);
const ask = process.stdin.isTTY ? (question: string): string => prompt(question) ?? "" : null;

try {
  const options = deployOptions(values);
  const deployed = await runDeploy(options, { say, ask });
  if (options.demo) await demonstrate(deployed.context, deployed);
} catch (cause) {
  if (cause instanceof SettlementError)
    exitWith(demoExitCode(cause), `deploy: the demo failed: ${cause.message} ${cause.cure}`);
  if (!(cause instanceof DeployStopped)) throw cause;
  exitWith(cause.exitCode, `deploy: ${cause.message}`);
}
