import { foreignJson, foreignLines } from "../../core/domain/encoding/foreign-text.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { unprovenIn, verdictText } from "../../core/domain/evidence/verdict-text.ts";
import { parseTrustPolicy } from "../../core/protocol/evidence/trust-policy.ts";
import { packetOfCall } from "../../core/protocol/calls/call-evidence.ts";
import { verifyCall } from "../../core/protocol/verification/verify-call.ts";
import { verifyEvidence } from "../../core/protocol/verification/verify-evidence.ts";
import { SettlementError } from "../settlement-error.ts";
import type { CommandIo } from "../command-line/command-io.ts";
import { readArguments, usageError, VERDICT_CODES } from "../command-line/command-line.ts";
import { readInput } from "../command-line/read-input.ts";

/** What the command says of itself. */
export const HELP = `Checks an evidence packet, or the evidence of one call of a session. Needs no network.

usage: npx --no-install settlement-evidence verify FILE [--trust FILE] [--json]
       npx --no-install settlement-evidence verify --fraud EVIDENCE [--trust FILE] [--json]
       npx --no-install settlement-evidence verify --fraud CHECKPOINT [OTHER] --trust FILE > EVIDENCE

  FILE          a packet as GET /v1/evidence/{pda} answers it, or a call.json of a session; - reads standard input
  --trust FILE  what to trust: an evidence-trust.json, obtained before the packet, from someone you trust
  --fraud       with one file: says what this file shows of a log that lied.
                With two: makes such a file, on standard output, when they convict a log of the trust document. Each is a
                checkpoint, the answer of a witness's /witness/refused, or the custody config account as JSON
                (solana account ADDRESS --output json). A witness's answer can be enough alone.
  --json        prints the verdict, its checks and the names of what is unproven as JSON

Ends with 0 when no check fails under the trust document, 1 when one fails, 2 when none fails but no document was given, 3 for a
packet of another version of the format, of which nothing was checked, 64 for a wrong command line, 66 when the packet or the
document cannot be read.
`;

const readTrust = async (from: string | undefined, io: CommandIo): Promise<TrustPolicy | null> => {
  if (from === undefined) return null;
  const parsed = parseTrustPolicy(await readInput(from, io));
  if ("value" in parsed) return parsed.value;
  throw new SettlementError(
    "invalid_trust",
    `${from}: ${parsed.fault}.`,
    "Fetch /.well-known/evidence-trust.json of the service, check it, and keep it.",
  );
};

/** Runs the command. @throws SettlementError */
export const run = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values, positionals } = readArguments(
    args,
    { trust: { type: "string" }, json: { type: "boolean" }, fraud: { type: "boolean" } },
    ["FILE", "[OTHER]"],
  );
  const trust = await readTrust(values.trust, io);
  if (values.fraud === true) {
    const { runFraud } = await import("../command-line/fraud.ts");
    const documents = await Promise.all(positionals.map((from) => readInput(from, io)));
    return runFraud(documents, { trust, tilesAt: null, isJson: values.json === true }, io);
  }
  if (positionals.length > 1)
    throw usageError("OTHER is given without --fraud.", "Give one FILE, or --fraud.");
  const document = await readInput(positionals[0] ?? "-", io);
  const result =
    packetOfCall(document) === null ? verifyEvidence(document, trust) : verifyCall(document, trust);
  io.stdout.write(
    values.json === true
      ? `${foreignJson({ ...result, unproven: unprovenIn(result) }, 2)}\n`
      : foreignLines(verdictText(result, "offline")),
  );
  return VERDICT_CODES[result.verdict];
};
