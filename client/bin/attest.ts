import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { foreignJson } from "../../core/domain/encoding/foreign-text.ts";
import { connectMerchant } from "../merchant/connect-merchant.ts";
import type { Attestation } from "../merchant/settle/attest.ts";
import { ReleasedAlready } from "../merchant/merchant-context.ts";
import { attestationFiles } from "../node/attestation-files.ts";
import { readInput } from "../node/input.ts";
import { SettlementError } from "../settlement-error.ts";
import type { CommandIo } from "../command-line/command-io.ts";
import { readArguments, required, usageError } from "../command-line/command-line.ts";
import { payloadIn } from "../command-line/read-input.ts";
import { readSigners, SIGNER_HELP, SIGNER_OPTIONS } from "../command-line/signer-options.ts";
import { SERVICE_HELP, SERVICE_OPTIONS, serviceNamed } from "../command-line/service-options.ts";

/** What the command says of itself. */
export const HELP = `Signs a delivery claim for an escrow, and releases it with --release. One proof for an escrow, ever: the claim is
kept in the journal before it is signed, and another one is refused from then on.

usage: npx --no-install settlement-evidence attest ESCROW --template ID --payload FILE --service URL --trust FILE SIGNER [--release]

  ESCROW                   the escrow's address
  --payload FILE           what was delivered, a JSON object; - reads standard input
  --template ID            the proof template that it must fit (GET /v1/proof-templates)
  --amount DECIMAL         the merchant's part, such as 0.40; all of it when left out
  --mint ADDRESS           the mint that the escrow must be in; needed with --amount where the trust document lists mints of several decimals
  --journal FOLDER         where claims are kept   (~/.local/state/settlement-evidence/attestations)
  --release                release the escrow with it; without a payer the attestor's key pays the fee
${SERVICE_HELP}
${SIGNER_HELP}
Prints the attestation as one line of JSON, and with --release a second line. Whoever holds the attestation can release the escrow, for five minutes.
Run the same again after any failure: it is the same proof, signed anew. Once it has released the escrow, only that is printed. Keep the journal, and copy it before you move.

Ends with 0; 64 wrong command line; 66 unreadable file or key; 69 no service; 1 refused, and nothing was signed unless it says so.
`;

/** The service takes payloads of this many bytes; larger ones belong behind a hash. */
const MOST_PAYLOAD_BYTES = 32_768;

const OPTIONS = {
  ...SERVICE_OPTIONS,
  ...SIGNER_OPTIONS,
  payload: { type: "string" },
  template: { type: "string" },
  amount: { type: "string" },
  mint: { type: "string" },
  journal: { type: "string" },
  release: { type: "boolean" },
} as const;

const print = (io: CommandIo, value: object): void => {
  io.stdout.write(`${foreignJson(value)}\n`);
};

/** The failure of a release after its attestation was printed. */
const unreleased = (cause: unknown, { until }: Attestation): unknown =>
  cause instanceof SettlementError
    ? new SettlementError(
        cause.code,
        `The attestation above is signed; the release failed: ${cause.message}`,
        `Run the same again, or release with it before ${until}. ${cause.cure}`,
        cause.status === null ? { cause } : { status: cause.status, cause },
      )
    : cause;

/** The folder of the journal unless one is named. */
export const usualJournal = ({ env }: CommandIo): string =>
  join(
    env["XDG_STATE_HOME"] || join(homedir(), ".local", "state"),
    "settlement-evidence",
    "attestations",
  );

/**
 * Signs the claim and returns it. When the escrow was already released with this claim, prints that and returns null.
 * @throws SettlementError
 */
const signedNow = async (
  io: CommandIo,
  signing: Promise<Attestation>,
): Promise<Attestation | null> => {
  try {
    return await signing;
  } catch (cause) {
    if (!(cause instanceof ReleasedAlready)) throw cause;
    print(io, cause.released);
    return null;
  }
};

/** Runs the command. @throws SettlementError */
export const run = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values, positionals } = readArguments(args, OPTIONS, ["ESCROW"]);
  const escrow = positionals[0] ?? "";
  const path = required(values.payload, "--payload", "a file with the payload, or -");
  const template = required(
    values.template,
    "--template",
    "a template's id, such as api-delivered-v1",
  );
  if (path === "-" && (values.key === "-" || values["payer-key"] === "-"))
    throw usageError(
      "Payload and key are both read from standard input.",
      "Put one of them into a file.",
    );
  const { url, trust } = await serviceNamed(values, io);
  const merchant = connectMerchant(url, { trust });
  const payload = payloadIn(await readInput(path, "the payload", MOST_PAYLOAD_BYTES, io.stdin));
  const { signer, payer } = await readSigners(values, io);
  const signing = merchant.attest({
    escrow,
    payload,
    template,
    ...(values.amount === undefined ? {} : { amount: values.amount }),
    ...(values.mint === undefined ? {} : { mint: values.mint }),
    attestor: signer,
    journal: attestationFiles(resolve(values.journal ?? usualJournal(io))),
  });
  const attestation = await signedNow(io, signing);
  if (attestation === null) return 0;
  print(io, attestation);
  if (values.release !== true) {
    io.stderr.write(
      `Not released yet: run the same with --release, or POST /v1/escrows/${escrow}/release/prepare with it before ${attestation.until}.\n`,
    );
    return 0;
  }
  print(
    io,
    await merchant.release({ attestation, payer: payer ?? signer }).catch((cause: unknown) => {
      throw unreleased(cause, attestation);
    }),
  );
  return 0;
};
