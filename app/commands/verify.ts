import { foreignJson, foreignLines } from "../../core/domain/encoding/foreign-text.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import type { CommandIo } from "../../client/command-line/command-io.ts";
import { VERDICT_CODES } from "../../client/command-line/command-line.ts";
import { fetchBytes } from "../command-line/fetch-bytes.ts";
import { unprovenIn, verdictText } from "../../core/domain/evidence/verdict-text.ts";
import { parseTrustPolicy } from "../../core/protocol/evidence/trust-policy.ts";
import { packetOfCall } from "../../core/protocol/calls/call-evidence.ts";
import { verifyCall } from "../../core/protocol/verification/verify-call.ts";
import { verifyEvidence } from "../../core/protocol/verification/verify-evidence.ts";
import { askLog, logAddress, tilesOfLog } from "../command-line/ask-log.ts";
import {
  EX_NOINPUT,
  EX_USAGE,
  endWith,
  parseCommandLine,
  runAsProcess,
} from "../command-line/command-line.ts";
import { nodeAddress } from "../command-line/ask-node.ts";

const HELP = `Checks an evidence packet, or the evidence of one call of a session: offline, with a node of the ledger as witness, or
with the log that it has a proof of.

usage: bun run cli verify FILE [options]
       bun run cli verify --fraud EVIDENCE [--trust FROM] [--json]
       bun run cli verify --fraud CHECKPOINT [OTHER] --trust FROM [--log URL] > EVIDENCE

  FILE          a packet as GET /v1/evidence/{pda} answers it, or a call.json of a session; - reads standard input
  --trust FROM  what to trust: a file, or the address of a service or of its evidence-trust.json.
                Obtain it before the packet, from someone you trust.
  --log URL     the log, or the service that keeps it: looks up its checkpoint of now, and whether its tree begins with
                the one in the packet's proof. The trust document must name the log.
  --rpc URL     a node of the ledger, chosen by you: looks up whether the account stands there,
                whether the attestor key was the merchant's (an offline check cannot), and how many events are numbered.
                May be given again: the next node is asked while none before it gives an answer that decides.
                With --log too, the log's tiles can show that the ledger's own root holds the account's last event.
  --fraud       with one file: says what this file shows of a log that lied, offline.
                With two: makes such a file, on standard output, when they convict a log of the trust document. Each is a
                checkpoint, the answer of a witness's /witness/refused, or the custody config account as JSON
                (solana account ADDRESS --output json). A witness's answer can be enough alone. With --log its tiles may show what two checkpoints do not.
  --json        prints the verdict, its checks and the names of what is unproven as JSON
  --help        this text

Ends with 0 when no check fails under the trust policy, 1 when one fails, 2 when none fails but no policy
was given, 3 for a file of another version of the format, of which nothing was checked, 64 for a wrong command line,
66 when the packet or the policy cannot be read, 69 when nothing fails without node and log, and the nodes or the log
give no answer that decides.
`;

/** More than the largest trust document that is read. */
const MOST_TRUST_BYTES = 2_097_152;
const WELL_KNOWN = "/.well-known/evidence-trust.json";
const FETCH_TRUST = `Fetch ${WELL_KNOWN} of the service, check it, and keep it`;

const fetched = async (url: URL): Promise<Uint8Array> => {
  if (url.pathname === "/") url.pathname = WELL_KNOWN;
  const bytes = await fetchBytes(url.href, MOST_TRUST_BYTES);
  if (bytes === null) throw new Error("it answered 404");
  return bytes;
};

/** Bytes, not text: decoding would hide a byte order mark and bytes that are not UTF-8. */
const read = async (from: string): Promise<Uint8Array> => {
  try {
    if (from === "-") return await Bun.stdin.bytes();
    return await (/^https?:\/\//.test(from) ? fetched(new URL(from)) : Bun.file(from).bytes());
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return endWith(
      EX_NOINPUT,
      `${from} cannot be read: ${reason.replace(/\.$/, "")}. Name a file that exists, or an address that answers`,
    );
  }
};

/**
 * What a node says, undefined without one. The node client is loaded only when needed: loading it is most of a check's
 * time.
 */
const asked = async (
  packet: Uint8Array,
  trust: TrustPolicy | null,
  [first, ...others]: ReadonlyArray<URL>,
) => {
  if (first === undefined) return undefined;
  const { askNode } = await import("../command-line/ask-node.ts");
  return askNode(packet, trust, [first, ...others]);
};

const readTrust = async (from: string | undefined): Promise<TrustPolicy | null> => {
  if (from === undefined) return null;
  const parsed = parseTrustPolicy(await read(from));
  return "value" in parsed
    ? parsed.value
    : endWith(EX_NOINPUT, `${from}: ${parsed.fault}. ${FETCH_TRUST}`);
};

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values, positionals } = parseCommandLine(
    args,
    HELP,
    {
      trust: { type: "string" },
      log: { type: "string" },
      rpc: { type: "string", multiple: true },
      json: { type: "boolean" },
      fraud: { type: "boolean" },
    },
    ["FILE..."],
  );
  if (values.fraud !== true && positionals.length !== 1)
    endWith(EX_USAGE, "expected FILE, and nothing else; see --help");

  const trust = await readTrust(values.trust);
  const log = values.log === undefined ? null : logAddress(values.log);
  if (values.fraud === true) {
    if (positionals.length > 2 || values.rpc !== undefined)
      endWith(EX_USAGE, "--fraud: expected one or two files, and no --rpc; see --help");
    const { runFraud } = await import("../../client/command-line/fraud.ts");
    const tilesAt = log === null ? null : (paths: ReadonlyArray<string>) => tilesOfLog(log, paths);
    const documents = await Promise.all(positionals.map(read));
    return runFraud(documents, { trust, tilesAt, isJson: values.json === true }, io);
  }
  const document = await read(positionals[0] ?? "-");
  const ofCall = packetOfCall(document);
  const packet = ofCall === null ? document : new TextEncoder().encode(ofCall);
  const verify = ofCall === null ? verifyEvidence : verifyCall;
  const nodes = (values.rpc ?? []).map(nodeAddress);
  if (log !== null && (trust?.logOnLedger ?? trust?.logAppendOnly ?? null) === null)
    endWith(
      EX_USAGE,
      '--log: give a trust document with --trust that names the log; docs/verify-evidence.md, "With the command", says how',
    );
  const offline = verify(document, trust);
  // No answer can save a packet that fails offline or is not read, so neither node nor log is asked about such a
  // packet.
  const isAsked = offline.verdict !== "failed" && offline.verdict !== "unsupported_version";
  const witness = isAsked ? await asked(packet, trust, nodes) : undefined;
  const fresh =
    isAsked && log !== null ? await askLog(packet, log, witness?.custodyConfig ?? null) : undefined;
  const result = isAsked ? verify(document, trust, witness, fresh) : offline;
  io.stdout.write(
    values.json === true
      ? `${foreignJson({ ...result, unproven: unprovenIn(result) }, 2)}\n`
      : foreignLines(
          verdictText(result, nodes.length === 0 ? "none" : isAsked ? "asked" : "spared"),
        ),
  );
  return VERDICT_CODES[result.verdict];
};

if (import.meta.main) await runAsProcess(main);
