import { access, constants, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { foreignJson } from "../../core/domain/encoding/foreign-text.ts";
import type { SettlementNews } from "../pay/settlement-events.ts";
import { connect } from "../connect.ts";
import { errorCode } from "../node/key-file.ts";
import { SettlementError } from "../settlement-error.ts";
import type { CommandIo } from "../command-line/command-io.ts";
import { interrupted, readArguments, required, usageError } from "../command-line/command-line.ts";
import { payloadIn, readInput } from "../command-line/read-input.ts";
import { SERVICE_HELP, SERVICE_OPTIONS, serviceNamed } from "../command-line/service-options.ts";

/** What the command says of itself. */
export const HELP = `Waits until an escrow is settled, verifies the evidence, keeps the packet in a file and prints the outcome as JSON. Needs no key.
What is confirmed before it is final is said on standard error.

usage: npx --no-install settlement-evidence watch ESCROW --service URL --trust FILE --out FILE

  ESCROW                   the escrow's address
${SERVICE_HELP}
  --out FILE               where the evidence packet is kept; a file that exists is left as it is
  --delivery FILE          what was delivered, a JSON object; it is compared with what was attested
  --template ID            the proof template that it must fit

Ends with 0 when it is settled and verified, 1 when evidence or delivery is refused, 64 for a wrong command line, 66 when a file
cannot be read, 69 when the service does not answer, 73 when the packet cannot be kept, 75 when it was interrupted or
the log's quorum is still missing.
`;

const OPTIONS = {
  ...SERVICE_OPTIONS,
  out: { type: "string" },
  delivery: { type: "string" },
  template: { type: "string" },
} as const;

const fileFault = (path: string, code: string): SettlementError =>
  code === "EEXIST"
    ? new SettlementError(
        "file_exists",
        `${path} exists, and is left as it is.`,
        "Name another file with --out.",
      )
    : new SettlementError(
        "file_not_made",
        `${path} cannot be written (${code}).`,
        "Name another file with --out.",
      );

/** Checks before the wait that the packet's file can be written after it. */
const requireFree = async (path: string): Promise<void> => {
  const there = await stat(path).catch(() => null);
  if (there !== null) throw fileFault(path, "EEXIST");
  await access(dirname(path), constants.W_OK).catch((cause: unknown) => {
    throw fileFault(path, errorCode(cause));
  });
};

const keep = async (path: string, text: string): Promise<void> => {
  const file = await open(path, "wx").catch((cause: unknown) => {
    throw fileFault(path, errorCode(cause));
  });
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Runs the command. @throws SettlementError */
export const run = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values, positionals } = readArguments(args, OPTIONS, ["ESCROW"]);
  const { template } = values;
  const out = required(values.out, "--out", "the file where the packet is kept");
  if (template !== undefined && values.delivery === undefined)
    throw usageError("--template goes with --delivery.", "Give the file of what was delivered.");
  const delivery =
    values.delivery === undefined ? undefined : payloadIn(await readInput(values.delivery, io));
  await requireFree(out);
  const { url, trust } = await serviceNamed(values, io);
  const client = connect(url, { trust });
  const onNews = ({ finality, state }: SettlementNews): void =>
    void io.stderr.write(
      finality === "confirmed"
        ? `confirmed: ${state}. A fork may still undo it; the evidence comes once it is final.\n`
        : `retracted: a fork undid ${state}. The escrow is as it was before.\n`,
    );
  const { packet, verdict, ...outcome } = await client.settled(positionals[0] ?? "", {
    signal: interrupted(io),
    onNews,
    ...(delivery === undefined ? {} : { delivery }),
    ...(template === undefined ? {} : { template }),
  });
  await keep(out, packet);
  io.stdout.write(`${foreignJson({ ...outcome, verdict: verdict.verdict })}\n`);
  return outcome.delivery?.accepted === false ? 1 : 0;
};
