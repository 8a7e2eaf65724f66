import type { CommandIo } from "../../../client/command-line/command-io.ts";
import { foreignLines } from "../../../core/domain/encoding/foreign-text.ts";
import { withoutWitnesses } from "../../../core/log/policy/witness-group.ts";
import {
  EX_DATAERR,
  EX_UNAVAILABLE,
  endWith,
  parseCommandLine,
  SERVICE_HERE,
  serviceUrl,
} from "../../command-line/command-line.ts";
import {
  changeGroup,
  GROUP_OPTIONS,
  logOf,
  TAKEN_WITHIN_MS,
  thresholdIn,
  within,
} from "./running-log.ts";

const HELP = `Has a running service ask a witness no more, without a restart. Its trust document then does not name it.

usage: bun run cli log remove-witness NAME [options]

  NAME            the witness's name in the policy, as /v1/status shows it
  --append-only   it is an ordinary C2SP witness, which looks at no ledger
  --quorum K      how many of those that stay must cosign           (more than half)
  --data-dir DIR  the service's DATA_DIR; of replicas, each one's   ($DATA_DIR, otherwise ./data)
  --service URL   where the service is                              (${SERVICE_HERE})
  --help          this text

The line goes from DATA_DIR/log-witnesses, with --append-only from DATA_DIR/log-witnesses-append-only, or from the file
that LOG_WITNESSES or LOG_WITNESSES_APPEND_ONLY names in the environment. Without the last witness the log publishes what
it signs at once, and no verdict rests on witnesses any more. Who has taken over your trust document keeps the old policy:
give them the new one, as their verdicts want the old quorum until then.

Ends with 0 when the service asks it no more, 64 for a wrong command line, 65 when no such witness is named or the policy
was written by hand, 66 when the file cannot be read or written, 69 when the service does not answer or does not take the
change, 1 when the service has no log.
`;

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values, positionals } = parseCommandLine(args, HELP, GROUP_OPTIONS, ["NAME"]);
  const name = positionals[0] ?? "";
  const service = serviceUrl(values.service);
  const threshold = thresholdIn(values.quorum);
  await logOf(service);
  let isNamed = false;
  const { path, group } = await changeGroup(values, io, (before) => {
    const keys = (before?.witnesses ?? []).flatMap((each) =>
      each.name === name ? [each.key.publicKey] : [],
    );
    isNamed = keys.length > 0;
    return before === null ? null : withoutWitnesses(before, keys, threshold);
  });
  if (!isNamed) endWith(EX_DATAERR, `${path} names no witness ${name}`);
  const isAsked = await within(
    TAKEN_WITHIN_MS,
    async () => (await logOf(service)).witnesses.some((each) => each.name === name),
    (asked) => !asked,
  );
  if (isAsked)
    endWith(
      EX_UNAVAILABLE,
      `${path} does not name ${name}, but ${service} still asks it: give its DATA_DIR with --data-dir, and see its log`,
    );
  const rest =
    group === null
      ? "no witness is left"
      : `${group.threshold} of ${group.witnesses.map((each) => each.name).join(", ")} must cosign`;
  io.stdout.write(`${foreignLines(`${service} asks ${name} no more; ${rest}`)}\n`);
  return 0;
};
