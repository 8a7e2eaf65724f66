import { bytesToHex } from "@noble/hashes/utils.js";
import type { CommandIo } from "../../../client/command-line/command-io.ts";
import { decodeBase64Url } from "../../../core/domain/encoding/base64.ts";
import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import { foreignLines } from "../../../core/domain/encoding/foreign-text.ts";
import { parseVerifierKey, printVerifierKey } from "../../../core/log/notes/verifier-key.ts";
import type { PolicyWitness } from "../../../core/log/policy/log-policy.ts";
import { parseLogPolicy } from "../../../core/log/policy/parse-log-policy.ts";
import { withWitness } from "../../../core/log/policy/witness-group.ts";
import {
  EX_DATAERR,
  EX_UNAVAILABLE,
  EX_USAGE,
  endWith,
  parseCommandLine,
  SERVICE_HERE,
  serviceUrl,
} from "../../command-line/command-line.ts";
import {
  changeGroup,
  GROUP_OPTIONS,
  logOf,
  policyOf,
  TAKEN_WITHIN_MS,
  thresholdIn,
  trustOf,
  within,
} from "./running-log.ts";

const HELP = `Has a running service ask one more witness to cosign its log, without a restart. Its trust document then names it.

usage: bun run cli log add-witness LINE [options]

  LINE            what a witness prints when it joins, in quotes: witness NAME KEY ADDRESS
  --append-only   it is an ordinary C2SP witness, which looks at no ledger
  --quorum K      how many of all must cosign   (more than half)
  --data-dir DIR  the service's DATA_DIR; of replicas, each one's   ($DATA_DIR, otherwise ./data)
  --service URL   where the service is                              (${SERVICE_HERE})
  --help          this text

The line is written into DATA_DIR/log-witnesses, with --append-only into DATA_DIR/log-witnesses-append-only, or into the
file that LOG_WITNESSES or LOG_WITNESSES_APPEND_ONLY names in the environment. Only add as a witness of the ledger, without
--append-only, whose operator compares the log with a node: verifiers who take over your trust document believe it.

Ends with 0 when the service asks it, 64 for a wrong command line, 65 for a line that cannot be added, 66 when the file
cannot be read or written, 69 when the service does not answer or does not take the line, 1 when the service has no log.
`;

/** How long the witness may take to cosign, milliseconds. */
const COSIGNED_WITHIN_MS = 10_000;

/**
 * An address to which paths of a witness are joined: host and path alone. Quotes and commas, which come with a line that
 * is copied out of JSON or a script, would become part of the path.
 */
const ADDRESS = /^https?:\/\/[A-Za-z0-9._:[\]-]+(\/[A-Za-z0-9._~%/+=:@!$&()*-]*)?$/;

const witnessIn = (line: string): PolicyWitness => {
  const policy = parseLogPolicy(`${line}\nquorum none\n`);
  if ("fault" in policy) return endWith(EX_DATAERR, `the line cannot be added: ${policy.fault}`);
  const [witness, ...others] = policy.value.witnesses;
  const url = URL.parse(witness?.url ?? "");
  if (witness === undefined || others.length > 0 || policy.value.logs.length > 0)
    return endWith(EX_USAGE, "LINE is one line in quotes: witness NAME KEY ADDRESS; see --help");
  if (url === null || !["http:", "https:"].includes(url.protocol))
    return endWith(EX_DATAERR, "the line ends with no http:// or https:// address");
  if (!ADDRESS.test(witness.url ?? ""))
    return endWith(
      EX_DATAERR,
      `the line's address ${witness.url} is more than a host and a path; copy it without quotes and commas`,
    );
  return witness;
};

/** Public keys, as hex, that this witness must not have, and what each of them is. */
const ownersOf = (
  { keys }: TrustPolicy,
  otherPolicy: string | null,
  vkey: string | null,
): ReadonlyMap<string, string> => {
  const owners = new Map<string, string>();
  for (const { x } of keys) {
    const publicKey = decodeBase64Url(x);
    if (publicKey !== undefined) owners.set(bytesToHex(publicKey), "one that signs evidence");
  }
  const others = parseLogPolicy(otherPolicy ?? "quorum none\n");
  if ("value" in others)
    for (const { key, name } of others.value.witnesses)
      owners.set(bytesToHex(key.publicKey), `that of ${name} in the other policy`);
  const logKey = parseVerifierKey(vkey ?? "");
  if ("value" in logKey) owners.set(bytesToHex(logKey.value.publicKey), "the log's own");
  return owners;
};

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values, positionals } = parseCommandLine(args, HELP, GROUP_OPTIONS, ["LINE"]);
  const witness = witnessIn(positionals[0] ?? "");
  const service = serviceUrl(values.service);
  const threshold = thresholdIn(values.quorum);

  const trust = await trustOf(service);
  const { own, other } = policyOf(values["append-only"]);
  const { vkey } = await logOf(service);
  const owner = ownersOf(trust, trust[other], vkey).get(bytesToHex(witness.key.publicKey));
  if (owner !== undefined) endWith(EX_DATAERR, `the line cannot be added: its key is ${owner}`);

  const { path, group } = await changeGroup(values, io, (before) =>
    withWitness(before, witness, threshold),
  );
  const names = group?.witnesses.map(({ name }) => name).join(", ");
  const say = (line: string) => io.stdout.write(`${foreignLines(line)}\n`);

  const line = printVerifierKey(witness.key);
  const taken = await within(
    TAKEN_WITHIN_MS,
    async () => (await trustOf(service))[own]?.includes(line) ?? false,
    (isNamed) => isNamed,
  );
  if (!taken)
    endWith(
      EX_UNAVAILABLE,
      `${path} names ${witness.name}, but ${service} has not taken it from there: give its DATA_DIR with --data-dir, and see its log`,
    );
  say(`${service} asks ${witness.name}; ${group?.threshold} of ${names} must cosign`);
  const shown = await within(
    COSIGNED_WITHIN_MS,
    async () => (await logOf(service)).witnesses.find(({ name }) => name === witness.name),
    (record) => record !== undefined && record.last_problem === null,
  );
  say(
    shown?.last_problem === null
      ? `${witness.name} has cosigned size ${shown.size}`
      : `${witness.name} has not cosigned yet: ${shown?.last_problem ?? "it was not asked yet"}`,
  );
  return 0;
};
