import { projectCommand } from "../../core/domain/project-command.ts";
import { foreignLines } from "../../core/domain/encoding/foreign-text.ts";
import { parseAddress } from "../../core/domain/address.ts";
import type { CommandIo } from "../../client/command-line/command-io.ts";
import { SettlementError } from "../../client/settlement-error.ts";
import { demoExitCode } from "../demo/expected.ts";
import { textNarrator } from "../demo/narrator.ts";
import { demoVerdict, runDemo } from "../demo/run-demo.ts";
import { DeployStopped } from "../deploy/deploy-stopped.ts";
import { nodeAddress } from "../command-line/ask-node.ts";
import {
  EX_USAGE,
  endWith,
  parseCommandLine,
  runAsProcess,
  SERVICE_HERE,
  serviceUrl,
} from "../command-line/command-line.ts";

const HELP = `Tells the whole life of two escrows against a running service: one is released upon delivery, one expires
and is refunded; the evidence of both is verified. On its local ledger the money is play money.

usage: bun run demo [options]

  --service URL     where the service is   (${SERVICE_HERE}; start one with: ${projectCommand("start")})
  --payer-key FILE  pays on any cluster, and gets back what is left; a key as solana-keygen writes it
  --rpc URL         with --payer-key: a node of the service's cluster   (SOLANA_RPC_URL)
  --mint ADDRESS    with --payer-key: what is paid in, listed by the service; the payer holds it or may mint it   (the service's settlement mint)
  --full            writes long values out, so that every request can be repeated from a shell
  --help            this text

Ends with 0 when both packets are verified, 69 when the service or the node does not answer, 64 for a wrong command line,
66 when the payer's key cannot be read, 1 as soon as anything else is not as it must be.
`;

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = parseCommandLine(args, HELP, {
    service: { type: "string", default: SERVICE_HERE },
    "payer-key": { type: "string" },
    rpc: { type: "string" },
    mint: { type: "string" },
    full: { type: "boolean", default: false },
  });
  const write = (line: string): void => void io.stdout.write(`${foreignLines(line)}\n`);
  const url = serviceUrl(values.service);
  const narrator = textNarrator(write, { full: values.full });

  const paid = async (payerFile: string) => {
    const [{ runPaidDemo }, { clusterRpc }, { readDeployKey }] = await Promise.all([
      import("../demo/paid-demo.ts"),
      import("../deploy/cluster/cluster-rpc.ts"),
      import("../deploy/inputs/deploy-keys.ts"),
    ]);
    const payer = await readDeployKey("--payer-key", payerFile);
    // Several nodes of one cluster may be named; the first will do.
    const node = values.rpc ?? io.env["SOLANA_RPC_URL"]?.split(",")[0]?.trim();
    if (node === undefined || node === "")
      return endWith(
        EX_USAGE,
        "--rpc is missing: give the address of a node of the service's cluster",
      );
    const mint = parseAddress(values.mint ?? "");
    if (values.mint !== undefined && mint === undefined)
      endWith(EX_USAGE, "--mint: expected the mint's base58 address of 32 bytes");
    const rpc = clusterRpc(nodeAddress(node));
    await rpc.connect();
    return runPaidDemo({ rpc, payer, say: write, priorityFee: 0n }, url, mint, narrator);
  };

  try {
    if (values["payer-key"] === undefined && (values.rpc ?? values.mint) !== undefined)
      endWith(EX_USAGE, "--rpc and --mint go with --payer-key FILE, the key that pays");
    const result = await (values["payer-key"] === undefined
      ? runDemo(url, narrator)
      : paid(values["payer-key"]));
    write(`\n${demoVerdict(result)}`);
    return 0;
  } catch (cause) {
    if (cause instanceof DeployStopped) endWith(cause.exitCode, `\ndemo: ${cause.message}`);
    if (!(cause instanceof SettlementError)) throw cause;
    return endWith(demoExitCode(cause), `\nThe demo failed: ${cause.message} ${cause.cure}`);
  }
};

if (import.meta.main) await runAsProcess(main);
