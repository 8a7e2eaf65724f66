import process from "node:process";

/**
 * By name: what it is, and the line of a shell that runs it. What writes files that the repository keeps comes first.
 */
const MORE: Readonly<Record<string, readonly [string, string]>> = {
  "record-answers": [
    "records what every operation answers, and writes docs/http.md",
    "bun test/conformance/http-answers/record.ts",
  ],
  pages: ["writes the generated pages of docs/", "bun test/pages/pages.ts"],
  pictures: [
    "writes the pictures that pages are compared with, and the README's",
    "bun test/browser/pictures.ts",
  ],
  "generate-client": [
    "writes the types of what the client asks and is answered",
    "bun test/client/generated/contract-types.ts",
  ],
  golden: [
    "writes this version's golden files, which later versions are held to",
    "bun test/golden/golden-files.ts",
  ],
  "golden-store": [
    "writes the stores of this schema, which later versions open or refuse with the cure",
    "bun test/app/backup/golden-store.ts",
  ],
  "build-programs": [
    "compiles the on-chain programs with clang-14 and links them",
    "bun programs/build.ts",
  ],
  programs: [
    "the programs' tests, on both files of each and under two sets of features",
    "bun test/programs/run.ts",
  ],
  esbmc: ["proofs over the programs' C; needs ESBMC", "bun test/programs/esbmc/run.ts"],
  model: [
    "both programs against a second writing of their rules: 100,000 random steps",
    "bun test/programs/model/main.ts sequences",
  ],
  explore: [
    "every sequence of up to six operations, mutated programs; --liveness: nobody is vetoed",
    "bun test/programs/model/main.ts explore",
  ],
  situations: [
    "2,000 random situations and 500 lives: prepare and the ledger agree",
    "SITUATIONS=2000 bun test test/programs/prepare/create-situations.test.ts test/programs/prepare/settlement-situations.test.ts --timeout 3600000 && SITUATIONS=500 bun test test/programs/prepare/lives.test.ts --timeout 3600000",
  ],
  postgres: [
    "the tests on PostgreSQL, on a server started for them; needs its package",
    "bun test/adapters/postgres/run.ts",
  ],
  replicas: [
    "three replicas behind HAProxy, PgBouncer and a standby: 20 kills of the primary",
    "bun test/replicas/main.ts",
  ],
  calls: [
    "what a payment, a session and an hour at rest ask a node for",
    "bun test/budget/tell.ts",
  ],
  proxy: [
    "the tests behind nginx, whose deny-list cannot be passed by; needs nginx",
    "bun test/adapters/http/proxy/run.ts",
  ],
  browser: [
    "every page in Chromium, on two screens; PAGE_PICTURES=FOLDER keeps pictures",
    "bun test ./test/browser/*.browser.ts --max-concurrency 4 --timeout 600000",
  ],
  clients: [
    "generated clients in Python, Go, Java and TypeScript call a service",
    "bun test/generated-clients/run.ts",
  ],
  package: [
    "the client's tarball in Node 20, 22 and 24, Bun, Deno and a page",
    "bun test/client/package/run.ts",
  ],
  executable: [
    "bun run build --executable, started in an empty folder",
    "bun test ./test/app/bundle/executable.alone.ts --timeout 900000",
  ],
  examples: [
    "examples/ in TypeScript, Python, Go and shell, where they are installed",
    "bun test/examples/run.ts",
  ],
  log: [
    "log and ledger's root by Go's sumdb and tessera's fsck; skips without Go",
    "bun test/log/run.ts",
  ],
  cluster: [
    "deployment, demo and hostile nodes before a real node, or the local ledger",
    "bun test/cluster/run.ts",
  ],
  alerts: [
    "each alert fires on its planted fault and only then; needs promtool and prometheus",
    "bun test ./test/alerts/planted.alerts.ts ./test/alerts/faults.alerts.ts ./test/alerts/prometheus.alerts.ts --timeout 600000",
  ],
  "hostile-facilitator": [
    "the x402 buyer against ten facilitators that fail, and PyPI's x402; needs Python",
    "bun test ./test/hostile-facilitator/battery.hostile.ts ./test/x402-python/x402-python.hostile.ts --timeout 120000",
  ],
  mcp: [
    "both generations of MCP clients, and the official conformance suite",
    "bun test test/client/mcp test/adapters/http/agents/mcp.test.ts --timeout 120000",
  ],
  "pays-once": [
    "a client, ours or yours, is killed at 50 seeded moments: it pays once",
    "bun test/pays-once/main.ts",
  ],
  sessions: [
    "a seller and a buyer of sessions, ours or yours, are killed, robbed and lied to",
    "bun test/sessions/main.ts",
  ],
  relay: [
    "the relay: 100,000 mutated transactions, 10,000 simulated lives",
    "FC_NUM_RUNS=125000 bun test test/core/use-cases/relay/mutants.test.ts --timeout 600000 && RELAY_RUNS=10000 bun test test/chaos/relay --timeout 3600000",
  ],
  pools: [
    "3,000 reads against a pool of nodes that lag and limit requests",
    "POOL_READS=3000 bun test test/adapters/solana-rpc/pool/lagging-pool.test.ts",
  ],
  hostile: ["syncs against hostile nodes, with more seeds", "bun test/hostile-node/run.ts"],
  "no-false-no": [
    "24 faults of a node over 3,000 reads and 500 relays: no payment is denied",
    "NO_FALSE_NO_PAYMENTS=${NO_FALSE_NO_PAYMENTS:-8} bun test test/hostile-node/no-false-no/no-false-no.test.ts --timeout 3600000",
  ],
  "byte-flips": [
    "10,000 packets with one changed byte: none verifies",
    "FC_NUM_RUNS=10000 bun test byte-flips -t 'no packet'",
  ],
  "call-evidences": [
    "10,000 calls of a session are proved, and none once any one field is changed",
    "EVIDENCES=${EVIDENCES:-10000} bun test test/client/sessions/every-evidence.test.ts --timeout 3600000",
  ],
  nats: [
    "the log in NATS JetStream: 50 kills of services and server; needs nats-server",
    "bun test ./test/adapters/nats/log-stream.nats.ts --timeout 120000 && bun test/chaos/run.ts kill-while-streaming",
  ],
  "log-schedules": [
    "200 schedules of a growing ledger: every store's tree is the ledger's",
    "LOG_SCHEDULES=${LOG_SCHEDULES:-200} bun test test/log/schedules/log-schedules.test.ts --timeout 3600000",
  ],
  "log-kills": [
    "300 kills of processes that build, follow, tile and sign a log",
    "bun test/chaos/run.ts kill-while-logging",
  ],
  witness: [
    "a witness in 1,000 simulated lives of logs and nodes that grow, fork and lie",
    "WITNESS_SCHEDULES=1000 bun test test/core/use-cases/witness/witness-schedules.test.ts --timeout 900000",
  ],
  chaos: ["kills, failing calls, lying nodes, a full disk", "bun test/chaos/run.ts"],
  mutants: [
    "changes the code in one place at a time, and a test must notice",
    "bun test/mutants/run.ts",
  ],
  walks: [
    "what bun run new writes, tried in a copy of the tree",
    "bun test ./test/tools/new.walks.ts --timeout 300000",
  ],
};

const HELP = `The tests beyond bun run test, and what writes recorded and generated files.

usage: bun run test:more NAME [arguments]

${Object.entries(MORE)
  .map(([name, [about]]) => `  ${name.padEnd(19)}  ${about}\n`)
  .join("")}
Arguments go on to what NAME runs. Most say more with --help, and print a seed that repeats them.
`;

const [name = "--help", ...args] = process.argv.slice(2);
const line = Object.hasOwn(MORE, name) ? MORE[name]?.[1] : undefined;
if (name === "--help" || name === "-h") process.stdout.write(HELP);
else if (line === undefined) {
  process.stderr.write(`There is no ${name}; bun run test:more lists what there is.\n`);
  // The command line is wrong (sysexits.h).
  process.exitCode = 64;
} else {
  const { exitCode } = Bun.spawnSync(["/bin/sh", "-c", `${line} "$@"`, "sh", ...args], {
    stdio: ["inherit", "inherit", "inherit"],
  });
  process.exitCode = exitCode;
}
