import process from "node:process";
import { COMMANDS as PACKAGE_COMMANDS, noSuchCommand } from "../../client/command-line/main.ts";
import { runAsProcess } from "../command-line/command-line.ts";

/**
 * A witness runs for years and has little to do. It takes the place of this process with its bundle, which needs a third
 * less memory than its modules; these serve as well where none can be made.
 */
const runWitness = async (): Promise<unknown> => {
  const { bundledScript } = await import("../bundle/service-bundle.ts");
  const bundle = await bundledScript("app/commands/witness.ts").catch(() => null);
  if (bundle === null) return import("./witness.ts");
  if (process.execve === undefined) return import(bundle);
  return process.execve(process.execPath, [process.execPath, bundle, ...process.argv.slice(2)], {
    // Compiled code takes more memory than it is worth to a process that mostly waits.
    BUN_JSC_useJIT: "0",
    ...process.env,
  });
};

/** Each command of the service with its sentence. Those of the package come after them: what is not here is its. */
const COMMANDS: Readonly<Record<string, readonly [string, () => Promise<unknown>]>> = {
  verify: [
    "checks an evidence packet, by the log and a node too",
    async () => runAsProcess((await import("./verify.ts")).main),
  ],
  sync: [
    "brings a running service's index up to its ledger",
    async () => runAsProcess((await import("./sync.ts")).main),
  ],
  "rebuild-index": [
    "says how the ledger's history contradicts the index, and approves it",
    async () => runAsProcess((await import("./rebuild-index.ts")).main),
  ],
  "import-escrow": [
    "gives a service the bytes of archived escrows, out of packets",
    async () => runAsProcess((await import("./import-escrow.ts")).main),
  ],
  backup: [
    "copies what a service keeps while it runs, the keys apart",
    async () => runAsProcess((await import("./backup.ts")).main),
  ],
  restore: [
    "puts a backup into a new data directory once all of it is checked",
    async () => runAsProcess((await import("./restore.ts")).main),
  ],
  log: [
    "has a service's log ask one more witness, rotates its key, or ends it",
    async () => runAsProcess((await import("./log.ts")).main),
  ],
  webhook: [
    "has a service send settlement events to an address, signed; lists, replays, tests",
    async () => runAsProcess((await import("./webhook.ts")).main),
  ],
  witness: [
    "cosigns the checkpoints of other services' logs after comparing them with the ledger",
    runWitness,
  ],
  "local-ledger": [
    "runs the ledger by itself, for wallets and other tools",
    () => import("./local-ledger.ts"),
  ],
  attestor: [
    "judges HTTP exchanges by rules and signs deliveries under a ceiling",
    async () => runAsProcess((await import("./attestor.ts")).main),
  ],
  "published-idl": [
    "prints a program's IDL for a deployment, or says whether it is published",
    () => import("../../programs/published-idl.ts"),
  ],
};

/** The package's own, but for those that the service has under the same name. */
const PACKAGED = Object.keys(PACKAGE_COMMANDS).filter((each) => !Object.hasOwn(COMMANDS, each));

const HELP = `The commands of the service, and those of its package.

usage: bun run cli COMMAND [options]

${Object.entries(COMMANDS)
  .map(([name, [about]]) => `  ${name.padEnd(13)}  ${about}\n`)
  .join("")}
  ${PACKAGED.join(", ")}
                 as the package's settlement-evidence has them

Each command says more with --help. The service's own start, demo, doctor and deploy are bun run NAME.
`;

const name = process.argv[2];
if (name === undefined || name === "--help" || name === "-h" || name === "help") {
  process.stdout.write(HELP);
  // 64: the command line is wrong (sysexits.h).
  process.exitCode = name === undefined ? 64 : 0;
} else if (Object.hasOwn(COMMANDS, name)) {
  // A command reads its own arguments, as if it were run by itself.
  process.argv.splice(2, 1);
  await COMMANDS[name]?.[1]();
} else if (PACKAGED.includes(name)) {
  await import("../../client/bin/settlement-evidence.ts");
} else {
  process.stderr.write(noSuchCommand(name, [...Object.keys(COMMANDS), ...PACKAGED]));
  process.exitCode = 64;
}
