import { foreignLines } from "../../core/domain/encoding/foreign-text.ts";
import { LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { type Address, parseAddress } from "../../core/domain/address.ts";
import { DemoFailed, ServiceUnreachable } from "../demo/demo-failed.ts";
import { textNarrator } from "../demo/narrator.ts";
import { runDemo } from "../demo/run-demo.ts";
import { DeployStopped } from "../deploy/deploy-stopped.ts";
import { nodeAddress } from "../command-line/node-address.ts";
import {
  askService,
  EX_USAGE,
  exitWith,
  readCommandLine,
  SERVICE_HERE,
  serviceUrl,
} from "../command-line/command-line.ts";

const HELP = `Tells the whole life of two escrows against a running service: one is released upon delivery, one expires
and is refunded; the evidence of both is verified. On its local ledger the money is play money.

usage: bun run demo [options]

  --service URL     where the service is   (${SERVICE_HERE}; start one with: npx bun@1.4.5 start)
  --payer-key FILE  pays on any cluster, and gets back what is left; a key as solana-keygen writes it
  --rpc URL         with --payer-key: a node of the service's cluster   (SOLANA_RPC_URL)
  --mint ADDRESS    with --payer-key: what is paid in; the payer holds it or may mint it   (the service's settlement mint)
  --full            writes long values out, so that every request can be repeated from a shell
  --help            this text

Ends with 0 when both packets are verified, 69 when the service or the node does not answer, 64 for a wrong command line,
66 when the payer's key cannot be read, 1 as soon as anything else is not as it must be.
`;

const { values } = readCommandLine(HELP, {
  service: { type: "string", default: SERVICE_HERE },
  "payer-key": { type: "string" },
  rpc: { type: "string" },
  mint: { type: "string" },
  full: { type: "boolean", default: false },
});
const write = (line: string): void => void process.stdout.write(`${foreignLines(line)}\n`);
const url = serviceUrl(values.service);
const narrator = textNarrator(write, { full: values.full });

/** The mint that an option names, else the one whose deliveries count at the service. */
const paidIn = async (): Promise<Address> => {
  if (values.mint !== undefined)
    return (
      parseAddress(values.mint) ??
      exitWith(EX_USAGE, "--mint: expected the mint's base58 address of 32 bytes")
    );
  const answer = await askService(url, "/v1/status");
  if (answer.status !== 200)
    throw new ServiceUnreachable(`no service answers at ${url}; start one, or give its --service`);
  const { data } = (await answer.json()) as { data: { settlement_mint: string | null } };
  const mint = parseAddress(data.settlement_mint ?? "");
  if (mint === undefined)
    throw new DemoFailed("the service knows no settlement mint; give --mint ADDRESS");
  return mint;
};

const paid = async (payerFile: string) => {
  const [{ runPaidDemo }, { clusterRpc }, { readDeployKey }] = await Promise.all([
    import("../demo/run-paid-demo.ts"),
    import("../deploy/cluster/cluster-rpc.ts"),
    import("../deploy/inputs/deploy-keys.ts"),
  ]);
  const payer = await readDeployKey("--payer-key", payerFile);
  // Several nodes of one cluster may be named; the first will do.
  const node = values.rpc ?? process.env["SOLANA_RPC_URL"]?.split(",")[0]?.trim();
  if (node === undefined || node === "")
    return exitWith(
      EX_USAGE,
      "--rpc is missing: give the address of a node of the service's cluster",
    );
  const rpc = clusterRpc(nodeAddress(node));
  await rpc.connect();
  return runPaidDemo({ rpc, payer, say: write, priorityFee: 0n }, url, await paidIn(), narrator);
};

try {
  if (values["payer-key"] === undefined && (values.rpc ?? values.mint) !== undefined)
    exitWith(EX_USAGE, "--rpc and --mint go with --payer-key FILE, the key that pays");
  const { released, refunded } = await (values["payer-key"] === undefined
    ? runDemo(url, LOCAL_USDC_MINT, narrator)
    : paid(values["payer-key"]));
  write(`\nVerified: ${released} was released, ${refunded} was refunded.`);
} catch (cause) {
  if (cause instanceof DeployStopped) exitWith(cause.exitCode, `\ndemo: ${cause.message}`);
  if (!(cause instanceof DemoFailed)) throw cause;
  exitWith(cause.exitCode, `\nThe demo failed: ${cause.message}`);
}
