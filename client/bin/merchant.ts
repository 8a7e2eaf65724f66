import { foreignJson } from "../../core/domain/encoding/foreign-text.ts";
import { connectMerchant, type MerchantClient } from "../merchant/connect-merchant.ts";
import { csvLine } from "../merchant/escrows/export.ts";
import { EXPORT_COLUMNS } from "../merchant/escrows/read-escrows.ts";
import { SettlementError } from "../settlement-error.ts";
import type { CommandIo } from "../command-line/command-io.ts";
import { readArguments, required, usageError } from "../command-line/command-line.ts";
import { readSigners, SIGNER_HELP, SIGNER_OPTIONS } from "../command-line/signer-options.ts";
import { SERVICE_HELP, SERVICE_OPTIONS, serviceNamed } from "../command-line/service-options.ts";

/** What the command says of itself. */
export const HELP = `A merchant's wallet and books.

usage: npx --no-install settlement-evidence merchant ACTION --service URL --trust FILE [options]

  register --attestor ADDRESS --name NAME SIGNER      names the merchant and the key whose attestations release escrows
  rotate --attestor ADDRESS [--compromised [--cancel]] SIGNER
                                                      names a new key, and prints the open escrows that still need the old one
  cancel ESCROW SIGNER                                ends an open escrow: what was not released is its agent's
  watch --merchant ADDRESS [--once] [--confirmed]     prints what awaits the merchant, a line of JSON whenever that changes
  export --merchant ADDRESS [--format csv|jsonl]      prints every escrow, once the totals equal the ledger's

  --compromised            the old key is in other hands: revoke it at once, and prepare the cancellation of what it leaves open
  --confirmed              tells of each change also some 12 seconds before it is final; a fork may retract it
  --cancel                 with --compromised: sign and send these cancellations too
${SERVICE_HELP}

SIGNER is the merchant's wallet:
${SIGNER_HELP}
Each can be run again after any failure. Ends with 0; 64 wrong command line; 66 unreadable file or key; 69 no service; 1 refused.
`;

const ADDRESS_OPTION = { type: "string" } as const;

const print = (io: CommandIo, value: object): void => {
  io.stdout.write(`${foreignJson(value)}\n`);
};

const merchantNamed = async (
  values: Parameters<typeof serviceNamed>[0],
  io: CommandIo,
): Promise<MerchantClient> => {
  const { url, trust } = await serviceNamed(values, io);
  return connectMerchant(url, { trust });
};

const payerIn = (payer: Awaited<ReturnType<typeof readSigners>>["payer"]) =>
  payer === null ? {} : { payer };

const register = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = readArguments(args, {
    ...SERVICE_OPTIONS,
    ...SIGNER_OPTIONS,
    attestor: ADDRESS_OPTION,
    name: { type: "string" },
  });
  const attestor = required(values.attestor, "--attestor", "the attestor's public key");
  const name = required(values.name, "--name", "the merchant's name");
  const merchant = await merchantNamed(values, io);
  const { signer, payer } = await readSigners(values, io);
  print(io, await merchant.register({ wallet: signer, attestor, name, ...payerIn(payer) }));
  return 0;
};

const rotate = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = readArguments(args, {
    ...SERVICE_OPTIONS,
    ...SIGNER_OPTIONS,
    attestor: ADDRESS_OPTION,
    compromised: { type: "boolean" },
    cancel: { type: "boolean" },
  });
  const attestor = required(values.attestor, "--attestor", "the new attestor's public key");
  const compromised = values.compromised === true;
  if (values.cancel === true && !compromised)
    throw usageError("--cancel is for --compromised.", "Cancel one escrow with `merchant cancel`.");
  const merchant = await merchantNamed(values, io);
  const { signer, payer } = await readSigners(values, io);
  const rotated = await merchant.rotate({
    wallet: signer,
    attestor,
    compromised,
    ...payerIn(payer),
  });
  print(io, rotated);
  let failed = 0;
  if (values.cancel === true)
    for (const { escrow } of rotated.cancellations)
      await merchant.cancel({ escrow, wallet: signer, ...payerIn(payer) }).then(
        (cancelled) => print(io, cancelled),
        (cause: unknown) => {
          if (!(cause instanceof SettlementError)) throw cause;
          failed++;
          print(io, { escrow, failed: cause.message, cure: cause.cure });
        },
      );
  return failed === 0 ? 0 : 1;
};

const cancel = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values, positionals } = readArguments(args, { ...SERVICE_OPTIONS, ...SIGNER_OPTIONS }, [
    "ESCROW",
  ]);
  const escrow = positionals[0] ?? "";
  const merchant = await merchantNamed(values, io);
  const { signer, payer } = await readSigners(values, io);
  print(io, await merchant.cancel({ escrow, wallet: signer, ...payerIn(payer) }));
  return 0;
};

const watch = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = readArguments(args, {
    ...SERVICE_OPTIONS,
    merchant: ADDRESS_OPTION,
    once: { type: "boolean" },
    confirmed: { type: "boolean" },
  });
  const wallet = required(values.merchant, "--merchant", "the merchant's wallet");
  const merchant = await merchantNamed(values, io);
  const stream = merchant.watch({
    merchant: wallet,
    once: values.once === true,
    confirmed: values.confirmed === true,
  });
  for await (const each of stream) print(io, each);
  return 0;
};

const exportRows = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = readArguments(args, {
    ...SERVICE_OPTIONS,
    merchant: ADDRESS_OPTION,
    format: { type: "string" },
  });
  const wallet = required(values.merchant, "--merchant", "the merchant's wallet");
  const { format = "csv" } = values;
  if (format !== "csv" && format !== "jsonl")
    throw usageError(`--format ${format} is not known.`, "Give csv or jsonl.");
  const merchant = await merchantNamed(values, io);
  const { rows, totals } = await merchant.export({ merchant: wallet });
  if (format === "csv")
    io.stdout.write(
      [EXPORT_COLUMNS.join(","), ...rows.map(csvLine)].map((line) => `${line}\r\n`).join(""),
    );
  else for (const row of rows) print(io, row);
  io.stderr.write(`Equal to the ledger's: ${foreignJson(totals)}\n`);
  return 0;
};

const ACTIONS: Readonly<
  Record<string, (args: ReadonlyArray<string>, io: CommandIo) => Promise<number>>
> = {
  register,
  rotate,
  cancel,
  watch,
  export: exportRows,
};

/** Runs the command. @throws SettlementError */
export const run = (
  [action = "", ...args]: ReadonlyArray<string>,
  io: CommandIo,
): Promise<number> => {
  const chosen = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  if (chosen === undefined)
    throw usageError(
      action === "" ? "No action is named." : `There is no action ${action}.`,
      `Give one of ${Object.keys(ACTIONS).join(", ")}.`,
    );
  return chosen(args, io);
};
