import { resolve } from "node:path";
import type { CommandIo } from "../../../client/command-line/command-io.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import { systemClock } from "../../../client/service/requests.ts";
import type { WitnessGroup } from "../../../core/log/policy/witness-group.ts";
import {
  askService,
  EX_DATAERR,
  EX_NOINPUT,
  EX_UNAVAILABLE,
  EX_USAGE,
  endWith,
  SERVICE_HERE,
} from "../../command-line/command-line.ts";
import { changeWitnessFile, type PolicySetting, witnessFile } from "../../log/witness-files.ts";

/** The options of the commands that change the witnesses of a running service's log. */
export const GROUP_OPTIONS = {
  "append-only": { type: "boolean", default: false },
  quorum: { type: "string" },
  "data-dir": { type: "string" },
  service: { type: "string", default: SERVICE_HERE },
} as const;

/** How long the service may take to read a changed file, milliseconds. */
export const TAKEN_WITHIN_MS = 10_000;
const LOOK_MS = 250;

/** What a service's status says of its log. */
type LogShown = {
  readonly vkey: string | null;
  readonly witnesses: ReadonlyArray<{
    readonly name: string;
    readonly size: number;
    readonly last_problem: string | null;
  }>;
};

/** The log of a running service. Ends the command where there is none. */
export const logOf = async (service: string): Promise<LogShown> => {
  const answer = await askService(service, "/v1/status");
  if (answer.status !== 200)
    return endWith(EX_UNAVAILABLE, `${service} answered ${answer.status}; see its log`);
  const { data } = (await answer.json()) as { readonly data: { readonly log: LogShown | null } };
  return data.log ?? endWith(1, `${service} keeps no log: it has no LOG_SIGNING_KEY`);
};

/** What the service's trust document says: policies as text, and keys that sign evidence. */
export const trustOf = async (service: string) => {
  const answer = await askService(service, "/.well-known/evidence-trust.json");
  if (answer.status !== 200)
    return endWith(EX_UNAVAILABLE, `${service} answered ${answer.status}; see its log`);
  return policyIn(await answer.text());
};

/** Asks until the answer fits, and gives the last one. */
export const within = async <A>(
  ms: number,
  ask: () => Promise<A>,
  fits: (answer: A) => boolean,
) => {
  const endsMs = performance.now() + ms;
  for (;;) {
    const answer = await ask();
    if (fits(answer) || performance.now() >= endsMs) return answer;
    await systemClock.pause(LOOK_MS);
  }
};

/** How many must cosign, as `--quorum` says; undefined for the usual number. */
export const thresholdIn = (quorum: string | undefined): number | undefined => {
  const threshold = quorum === undefined ? undefined : Number(quorum);
  if (threshold !== undefined && !(Number.isInteger(threshold) && threshold >= 1))
    endWith(EX_USAGE, "--quorum: expected a whole number from 1 on");
  return threshold;
};

/** The policy in a trust document that a command changes, the one that it does not, and the setting of its file. */
export const policyOf = (isAppendOnly: boolean) =>
  isAppendOnly
    ? ({
        own: "logAppendOnly",
        other: "logOnLedger",
        setting: "LOG_WITNESSES_APPEND_ONLY",
      } as const)
    : ({ own: "logOnLedger", other: "logAppendOnly", setting: "LOG_WITNESSES" } as const);

/** Where the witnesses are named, and of what kind they are. */
type GroupFile = { readonly "append-only": boolean; readonly "data-dir"?: string | undefined };

/** Changes the witnesses in the service's file. Ends the command where that cannot be. */
export const changeGroup = async (
  options: GroupFile,
  io: Pick<CommandIo, "env">,
  change: (group: WitnessGroup | null) => WitnessGroup | null,
): Promise<{ readonly path: string; readonly group: WitnessGroup | null }> => {
  const setting: PolicySetting = policyOf(options["append-only"]).setting;
  const dataDir = resolve(options["data-dir"] ?? io.env["DATA_DIR"] ?? "./data");
  const path = witnessFile(setting, io.env[setting] || null, dataDir);
  const changed = await changeWitnessFile(path, change, "names none").catch((cause: unknown) =>
    endWith(
      EX_NOINPUT,
      `${path} cannot be changed: ${cause instanceof Error ? cause.message : String(cause)}`,
    ),
  );
  if ("fault" in changed) return endWith(EX_DATAERR, `${path}: ${changed.fault}`);
  return { path, group: changed.value };
};
