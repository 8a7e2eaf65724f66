import type { EvidenceCheck, TrustPolicy } from "../../core/domain/evidence-check.ts";
import { parseTrustPolicy } from "../../core/protocol/trust-policy.ts";
import { verifyEvidence } from "../../core/protocol/verify-evidence.ts";
import { EX_NOINPUT, exitWith, readCommandLine } from "./command-line.ts";

const HELP = `Checks an evidence packet offline.

usage: bun run verify FILE [options]

  FILE          a packet as GET /v1/evidence/{pda} answers it; - reads standard input
  --trust FROM  what to trust: a file, or the address of a service or of its evidence-trust.json.
                Obtain it before the packet, from someone you trust.
  --json        prints the verdict and its checks as JSON
  --help        this text

Ends with 0 when every check passes under the trust policy, 1 when one fails, 2 when none fails but no
policy was given, 64 for a wrong command line, 66 when the packet or the policy cannot be read.
`;

const EXIT_CODES = { verified: 0, failed: 1, untrusted: 2 } as const;
const FETCH_TIMEOUT_MS = 10_000;
const WELL_KNOWN = "/.well-known/evidence-trust.json";

const MARKS: Readonly<Record<EvidenceCheck["outcome"], string>> = {
  passed: "ok      ",
  failed: "FAILED  ",
  not_applicable: "-       ",
  unproven: "unproven",
};

const fetchText = async (url: URL): Promise<string> => {
  if (url.pathname === "/") url.pathname = WELL_KNOWN;
  const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
  if (!response.ok) throw new Error(`it answered ${response.status}`);
  return response.text();
};

const read = async (from: string): Promise<string> => {
  try {
    if (from === "-") return await Bun.stdin.text();
    return await (/^https?:\/\//.test(from) ? fetchText(new URL(from)) : Bun.file(from).text());
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return exitWith(EX_NOINPUT, `${from} cannot be read: ${reason}`);
  }
};

const readTrust = async (from: string | undefined): Promise<TrustPolicy | null> => {
  if (from === undefined) return null;
  const parsed = parseTrustPolicy(await read(from));
  return "value" in parsed ? parsed.value : exitWith(EX_NOINPUT, `${from}: ${parsed.fault}`);
};

const { values, positionals } = readCommandLine(
  HELP,
  { trust: { type: "string" }, json: { type: "boolean" } },
  ["FILE"],
);
const trust = await readTrust(values.trust);
const { verdict, checks } = verifyEvidence(await read(positionals[0] ?? "-"), trust);
const lines = checks.map(({ name, outcome, reason }) => `${MARKS[outcome]}  ${name}: ${reason}`);
process.stdout.write(
  values.json === true
    ? `${JSON.stringify({ verdict, checks }, null, 2)}\n`
    : `${lines.join("\n")}\n\n${verdict}\n`,
);
process.exitCode = EXIT_CODES[verdict];
