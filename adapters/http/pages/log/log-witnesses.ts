import { parseCheckpoint } from "../../../../core/log/checkpoint/checkpoint.ts";
import { notedCosignatures } from "../../../../core/log/policy/noted-cosignatures.ts";
import { parseLogPolicy } from "../../../../core/log/policy/parse-log-policy.ts";
import { OWN_WITNESS_NAMES } from "../../../../core/log/policy/witness-group.ts";
import type { LogStatusRecord } from "../../service/status/log-status-contract.ts";
import type { EvidenceTrustRecord } from "../../evidence/evidence-trust.ts";
import { html, type Html } from "../shell/html.ts";
import { durationText, pill, table, time } from "../shell/parts.ts";

/** What a witness states with a cosignature. */
type Kind = "on_ledger" | "append_only";

const KIND_WORDS: Readonly<Record<Kind, string>> = {
  on_ledger: "The root is on the ledger, where it looks itself.",
  append_only: "The log only grows: nothing was taken back.",
};

type Cosigner = { readonly name: string; readonly kind: Kind; readonly seconds: bigint | null };

/** The witnesses that a trust document names, each with the time of its line on a checkpoint. Nothing is verified. */
const cosignersOf = (
  trust: Pick<EvidenceTrustRecord, "log_on_ledger" | "log_append_only">,
  checkpoint: string | null,
): ReadonlyArray<Cosigner> => {
  const parsed = checkpoint === null ? null : parseCheckpoint(checkpoint);
  const policies = [
    ["on_ledger", trust.log_on_ledger],
    ["append_only", trust.log_append_only],
  ] as const;
  return policies.flatMap(([kind, text]) => {
    const policy = text === null ? null : parseLogPolicy(text);
    if (policy === null || "fault" in policy) return [];
    const noted =
      parsed === null || "fault" in parsed
        ? []
        : notedCosignatures(parsed.value.note, policy.value);
    return policy.value.witnesses.map(({ name }) => ({
      name,
      kind,
      seconds: noted.find((line) => line.name === name)?.time ?? null,
    }));
  });
};

/** What a cosignature of a witness says, and how little that of one of the service's own does. */
const statement = (name: string, kind: Kind | null): Html => {
  const words = kind === null ? "Not named in this service's trust document." : KIND_WORDS[kind];
  const own = "It is this service's own: it shows how witnesses work, and no independence.";
  return html`<div class="says">${words} ${OWN_WITNESS_NAMES.includes(name) && own}</div>`;
};

/** The largest second that a date can show. */
const LAST_SECOND = 8_640_000_000_000n;

const ageOf = (seconds: bigint, nowMs: number): Html => {
  if (seconds > LAST_SECOND) return html`at a time that no date shows`;
  const at = new Date(Number(seconds) * 1000).toISOString();
  const age = Math.floor(nowMs / 1000) - Number(seconds);
  return html`${time(at)}<br />${age < 0 ? "ahead of this service's clock" : `${durationText(age)} ago`}`;
};

/** The log's witnesses: what each states, what it cosigned last and when, and what went wrong with it. */
export const witnessTable = (
  log: Pick<LogStatusRecord, "witnesses" | "missing_witnesses">,
  trust: Pick<EvidenceTrustRecord, "log_on_ledger" | "log_append_only"> | null,
  checkpoint: string | null,
  nowMs: number,
): Html => {
  const cosigners = trust === null ? [] : cosignersOf(trust, checkpoint);
  const named = new Set(cosigners.map(({ name }) => name));
  const rows = [
    ...cosigners,
    ...log.witnesses
      .filter(({ name }) => !named.has(name))
      .map(({ name }) => ({ name, kind: null, seconds: null })),
  ];
  return table({
    caption: "Who checks the log, and what a cosignature of each says",
    head: ["Witness", "States", "On the published checkpoint", "Cosigned last", "State"],
    rows: rows.map(({ name, kind, seconds }) => {
      const offered = log.witnesses.find((one) => one.name === name);
      const isMissing = log.missing_witnesses.includes(name);
      return [
        name,
        statement(name, kind),
        seconds === null ? "no cosignature" : ageOf(seconds, nowMs),
        offered === undefined ? "not known to this process" : `${offered.size} leaves`,
        html`${isMissing ? pill("warn", "missing") : seconds === null ? pill("wait", "not there") : pill("good", "cosigns")}
        ${offered?.last_problem}`,
      ];
    }),
    empty:
      "The log has no witnesses: its roots are signed by this service alone, so nobody else would notice a second history.",
  });
};
