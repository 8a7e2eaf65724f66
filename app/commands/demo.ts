import { LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { DemoFailed } from "../demo/demo-failed.ts";
import { textNarrator } from "../demo/narrator.ts";
import { runDemo } from "../demo/run-demo.ts";
import { exitWith, readCommandLine, SERVICE_HERE, serviceUrl } from "./command-line.ts";

const HELP = `Tells the whole life of two escrows against a running service on its local ledger: one is released
upon delivery, one expires and is refunded; the evidence of both is verified. Keys stay in this process.

usage: bun run demo [options]

  --url URL   where the service is   (${SERVICE_HERE}; start one with: npx bun@1.4.5 start)
  --full      writes long values out, so that every request can be repeated from a shell
  --help      this text

Ends with 0 when both packets are verified, 1 as soon as anything is not as it must be.
`;

const { values } = readCommandLine(HELP, {
  url: { type: "string", default: SERVICE_HERE },
  full: { type: "boolean", default: false },
});
const write = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  const { released, refunded } = await runDemo(
    serviceUrl(values.url),
    LOCAL_USDC_MINT,
    textNarrator(write, { full: values.full }),
  );
  write(`\nVerified: ${released} was released, ${refunded} was refunded.`);
} catch (cause) {
  if (!(cause instanceof DemoFailed)) throw cause;
  exitWith(1, `\nThe demo failed: ${cause.message}`);
}
