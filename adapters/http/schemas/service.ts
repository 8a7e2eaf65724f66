import { type Static, Type } from "@sinclair/typebox";
import { Address, nullable, oneOf, record } from "../openapi/values.ts";

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
    record("StaleIndex", "Present when the index is not as fresh as it should be; it is served.", {
      status: Type.Literal("stale"),
      lag_slots: Type.Integer({ minimum: 0, description: "Slots behind the ledger." }),
      last_error: nullable(Type.String({ description: "Problem code of the last failed sync." })),
      snapshot_error: nullable(
        Type.String({ description: "Problem code of the last snapshot, when it failed." }),
      ),
    }),
  ),
});

/** The body of `GET /v1`. */
export const Version = record(
  "Version",
  "Which version of the contract and of the service this is.",
  {
    name: Type.String(),
    contract_version: Type.String(),
    evidence_format: Type.String(),
    version: Type.String({ description: "Of the package." }),
    revision: Type.Union([Type.String(), Type.Null()], {
      description: "The source revision it was started from; null when not known.",
    }),
    links: Type.Record(Type.String(), Type.String()),
  },
);

const Programs = record("DescriptorPrograms", "The two programs.", {
  custody: Address("The custody program."),
  attestor: Address("The attestor program."),
});

const BetaLimits = record("BetaLimits", "Planned limits of the limited beta.", {
  status: Type.Literal("planned_limited_beta"),
  first_wedge: Type.String(),
  max_escrow_usdc: Type.String(),
  max_ttl_seconds: Type.Integer(),
  supported_assets: Type.Array(Type.String()),
  required_controls: Type.Array(Type.String()),
});

const text = Type.String();

/** The service descriptor document. */
export const Descriptor = record("Descriptor", "Describes this deployment.", {
  name: text,
  status: Type.Literal("online"),
  role: text,
  phase: text,
  network: Type.String({ description: "Address of the ledger node, without credentials." }),
  programs: Programs,
  protocol: text,
  settlement: text,
  thesis: text,
  primary_wedge: oneOf(["api_data_commerce"], "The first use."),
  mainnet_beta_limits: BetaLimits,
  links: record("DescriptorLinks", "Addresses.", { site: text, docs: text, demo: text, api: text }),
  endpoints: record("DescriptorEndpoints", "Paths, with a method where it is not GET.", {
    health: text,
    openapi: text,
    version: text,
    status: text,
    escrowPrepare: text,
    escrow: text,
    evidence: text,
    merchant: text,
    merchantRegistry: text,
    proofTemplates: text,
    relay: text,
    indexer: text,
    indexerEvents: text,
    indexerSync: text,
  }),
});
export type DescriptorRecord = Static<typeof Descriptor>;
