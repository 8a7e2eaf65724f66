import { foreignJson } from "../../core/domain/encoding/foreign-text.ts";
import { connect } from "../connect.ts";
import { readKeyFile } from "../node/key-file.ts";
import type { CommandIo } from "../command-line/command-io.ts";
import { interrupted, readArguments, required } from "../command-line/command-line.ts";
import { SERVICE_HELP, SERVICE_OPTIONS, serviceNamed } from "../command-line/service-options.ts";

/** What the command says of itself. */
export const HELP = `Returns to its agent what an expired escrow holds, or what a settled one still does, and prints what came back as JSON. Anyone may do it; the money goes to the agent only.

usage: npx --no-install settlement-evidence refund ESCROW --service URL --trust FILE --key FILE

  ESCROW                   the escrow's address
${SERVICE_HELP}
  --key FILE               the key that pays the fee, mode 0600, as keygen makes it

Ends with 0 once it is returned, also when it was returned before, 1 when it was refused, 64 for a wrong command line, 66
when a file cannot be read, 69 when the service does not answer, 75 when it was interrupted.
`;

/** Runs the command. @throws SettlementError */
export const run = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values, positionals } = readArguments(
    args,
    { ...SERVICE_OPTIONS, key: { type: "string" } },
    ["ESCROW"],
  );
  const key = required(values.key, "--key", "the file of the key that pays the fee");
  const { url, trust } = await serviceNamed(values, io);
  const client = connect(url, { trust });
  const refunded = await client.refund(positionals[0] ?? "", {
    signer: await readKeyFile(key),
    signal: interrupted(io),
  });
  io.stdout.write(`${foreignJson(refunded)}\n`);
  return 0;
};
