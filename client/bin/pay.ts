import { foreignJson } from "../../core/domain/encoding/foreign-text.ts";
import { connect } from "../connect.ts";
import { fileJournal } from "../node/file-journal.ts";
import { readKeyFile } from "../node/key-file.ts";
import type { CommandIo } from "../command-line/command-io.ts";
import { interrupted, readArguments, required, usageError } from "../command-line/command-line.ts";
import { SERVICE_HELP, SERVICE_OPTIONS, serviceNamed } from "../command-line/service-options.ts";

/** What the command says of itself. */
export const HELP = `Locks a payment for a merchant in an escrow and prints the escrow as JSON once that is confirmed.

usage: npx --no-install settlement-evidence pay --service URL --trust FILE --key FILE --merchant ADDRESS --amount AMOUNT --task TEXT (--ttl SECONDS | --expires-at TIME) --nonce TEXT

${SERVICE_HELP}
  --key FILE               the agent's key, mode 0600, as keygen makes it
  --merchant ADDRESS       the merchant's wallet
  --amount AMOUNT          decimal, such as 1.50
  --task TEXT              what is to be done, 1 to 4096 bytes
  --ttl SECONDS            until the money can be taken back, 1 to 604800
  --expires-at TIME        in its place the very time, such as 2026-11-30T12:00:00Z, at most seven days ahead; with --ttl that is the most it may be
  --nonce TEXT             this payment's own name. The same key, task and nonce are one payment: run it again after any failure, nothing is paid twice.
  --mint ADDRESS           a mint of the trust document   (its only one)
  --attestor ADDRESS       the key that must attest   (the merchant's present one)
  --max AMOUNT             refuses to pay more than this
  --max-per-day AMOUNT     refuses to pay more than this in 24 hours in all; needs --journal
  --journal FILE           where the day's payments are kept
  --rpc URL                a node of the ledger, chosen by you: the escrow is looked up there, and terms is "same" only then; may be repeated
  --only ADDRESS           refuses to pay anyone else; may be repeated

Without --rpc terms is "unproven": that the payment is locked is then the service's word.

Ends with 0 once it is locked, 1 when it was refused or is not on the ledger, 64 for a wrong command line, 66 when a file cannot be read, 69 when
the service does not answer, 75 when it was interrupted.
`;

const OPTIONS = {
  ...SERVICE_OPTIONS,
  key: { type: "string" },
  merchant: { type: "string" },
  amount: { type: "string" },
  task: { type: "string" },
  ttl: { type: "string" },
  "expires-at": { type: "string" },
  nonce: { type: "string" },
  mint: { type: "string" },
  attestor: { type: "string" },
  max: { type: "string" },
  "max-per-day": { type: "string" },
  journal: { type: "string" },
  rpc: { type: "string", multiple: true },
  only: { type: "string", multiple: true },
} as const;

/** Runs the command. @throws SettlementError */
export const run = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = readArguments(args, OPTIONS);
  const { mint, attestor, max, journal, only, rpc, "max-per-day": maxPerDay } = values;
  const merchant = required(values.merchant, "--merchant", "the merchant's wallet");
  const amount = required(values.amount, "--amount", "a decimal amount such as 1.50");
  const task = required(values.task, "--task", "what is paid for");
  const expiresAt = values["expires-at"];
  const ttl =
    expiresAt === undefined
      ? required(values.ttl, "--ttl", "the seconds until the money can be taken back")
      : values.ttl;
  const nonce = required(values.nonce, "--nonce", "a name of this payment, to run it again safely");
  if ((maxPerDay === undefined) !== (journal === undefined))
    throw usageError(
      "--max-per-day and --journal go together.",
      "Give both: a limit of a day needs a file that keeps the day's payments.",
    );
  const key = required(values.key, "--key", "the file of the agent's key");
  const limits = {
    ...(max === undefined ? {} : { maxPerEscrow: max }),
    ...(only === undefined ? {} : { merchants: only }),
  };
  const { url, trust } = await serviceNamed(values, io);
  const client = connect(url, {
    trust,
    ...(rpc === undefined ? {} : { rpc }),
    spend:
      maxPerDay === undefined || journal === undefined
        ? limits
        : { ...limits, maxPerDay, journal: fileJournal(journal) },
  });
  const paid = await client.pay({
    merchant,
    amount,
    task,
    ...(ttl === undefined ? {} : { ttl: /^[0-9]{1,6}$/.test(ttl) ? Number(ttl) : Number.NaN }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    nonce,
    ...(mint === undefined ? {} : { mint }),
    ...(attestor === undefined ? {} : { attestor }),
    signer: await readKeyFile(key),
    signal: interrupted(io),
  });
  io.stdout.write(`${foreignJson(paid)}\n`);
  if (paid.terms === "unproven")
    io.stderr.write(
      rpc === undefined
        ? "Only the service says so, and nothing was proven. To have it looked up on the ledger, run the same again with --rpc and a node of your own: nothing is paid twice.\n"
        : "This task and nonce were paid and settled, and the ledger shows no more on which terms: the escrow is archived. Read your own packet.\n",
    );
  return 0;
};
