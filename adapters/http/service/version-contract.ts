import { type Static, Type } from "@sinclair/typebox";
import { EVIDENCE_VERSION } from "../../../core/protocol/evidence/evidence-data.ts";
import { ARAZZO_PATH } from "../agents/arazzo-document.ts";
import { LLMS_PATH } from "../agents/llms.ts";
import { record } from "../openapi/values.ts";
import { CONTRACT_VERSION, SERVICE_NAME } from "../openapi/service-version.ts";

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
