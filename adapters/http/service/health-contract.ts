import { type Static, Type } from "@sinclair/typebox";
import { EVIDENCE_VERSION } from "../../../core/protocol/evidence/evidence-data.ts";
import type { StaleIndex as Stale } from "../../../core/use-cases/service/read-readiness.ts";
import { ARAZZO_PATH } from "../agents/arazzo.ts";
import { LLMS_PATH } from "../agents/llms.ts";
import { CONTRACT_VERSION, SERVICE_NAME } from "../openapi/openapi-document.ts";
import { nullable, record } from "../openapi/values.ts";
import { syncErrorCode } from "./status/index-status-contract.ts";

/** The body of `GET /health`. */
export const Health = record("Health", "The process runs and answers.", {
  status: Type.Literal("ok"),
  service: Type.String(),
  version: Type.String(),
  uptime_seconds: Type.Integer({ minimum: 0 }),
});

/** The body of `GET /ready`. */
export const Readiness = record("Readiness", "Store and ledger answer.", {
  status: Type.Literal("ready"),
  index: Type.Optional(
    record("StaleIndex", "Present when the index is stale. It still answers.", {
      status: Type.Literal("stale"),
      lag_slots: Type.Integer({ minimum: 0, description: "Slots behind the ledger." }),
      last_error: nullable(
        Type.String({
          description:
            "Problem code of the last failed sync, such as `ledger_unavailable`, or `slot_beyond_reach` for a slot that no sync takes.",
        }),
      ),
      snapshot_error: nullable(
        Type.String({ description: "Problem code of the last snapshot, when it failed." }),
      ),
    }),
  ),
});

/** The answer of `GET /health` of a process that has run for `uptimeMs`. */
export const healthRecord = (version: string, uptimeMs: number): Static<typeof Health> => ({
  status: "ok",
  service: SERVICE_NAME,
  version,
  uptime_seconds: Math.floor(uptimeMs / 1000),
});

const staleIndexRecord = ({ lagSlots, lastError, snapshotError }: Stale) => ({
  status: "stale" as const,
  lag_slots: Number(lagSlots),
  last_error: syncErrorCode(lastError),
  snapshot_error: syncErrorCode(snapshotError),
});

/** The answer of `GET /ready` when store and ledger answer; `stale` is null for a fresh index. */
export const readinessRecord = (stale: Stale | null): Static<typeof Readiness> => ({
  status: "ready",
  ...(stale === null ? {} : { index: staleIndexRecord(stale) }),
});

/** The health of a process that has run for 42 seconds. */
export const healthExample = () => healthRecord("1.0.0-devnet", 42_000);

/** The readiness of a service whose index is fresh. */
export const readinessExample = () => readinessRecord(null);

/** The body of `GET /v1`. */
export const Version = record(
  "Version",
  "Which version of the contract and of the service this is.",
  {
    name: Type.String(),
    contract_version: Type.String(),
    evidence_format: Type.String(),
    version: Type.String({ description: "The package's version." }),
    revision: Type.Union([Type.String(), Type.Null()], {
      description: "The source revision it was started from; null when not known.",
    }),
    links: Type.Record(Type.String(), Type.String()),
  },
);
type VersionRecord = Static<typeof Version>;

const VERSION_LINKS = {
  openapi: "/openapi.json",
  docs: "/docs",
  llms: LLMS_PATH,
  arazzo: ARAZZO_PATH,
  status: "/v1/status",
  descriptor: "/.well-known/settlement-evidence.json",
} as const;

/** The versions as JSON; `revision` is the source revision the service was started from. */
export const versionRecord = (version: string, revision: string | null): VersionRecord => ({
  name: SERVICE_NAME,
  contract_version: CONTRACT_VERSION,
  evidence_format: EVIDENCE_VERSION,
  version,
  revision,
  links: VERSION_LINKS,
});

/** The versions of a service whose revision is not known. */
export const versionExample = () => versionRecord("1.0.0-devnet", null);
