import { formatUsdc } from "../../../core/domain/amount.ts";
import { BETA_LIMITS } from "../../../core/domain/escrow/beta-limits.ts";
import type { Deployment } from "../../../core/domain/ledger/deployment.ts";
import { SERVICE_NAME } from "../openapi/contract.ts";
import type { DescriptorRecord } from "../schemas/service.ts";

const ENDPOINTS = {
  health: "/health",
  openapi: "/openapi.json",
  version: "/v1",
  status: "/v1/status",
  escrowPrepare: "POST /v1/escrows/prepare",
  escrow: "/v1/escrows/{pda}",
  evidence: "/v1/evidence/{pda}",
  merchant: "/v1/merchants/{pubkey}",
  merchantRegistry: "/v1/registry/merchants",
  proofTemplates: "/v1/proof-templates",
  relay: "POST /v1/relay",
  indexer: "/v1/indexer",
  indexerEvents: "/v1/indexer/events",
  indexerSync: "POST /v1/indexer/sync",
} as const;

/** What the descriptor takes from the running instance. */
export type DescriptorSource = {
  readonly deployment: Deployment;
  readonly networkAddress: string;
  /** Under which the caller reached the service, without a slash at its end. */
  readonly origin: string;
};

/** The service descriptor document as JSON. */
export const descriptorRecord = (source: DescriptorSource): DescriptorRecord => ({
  name: SERVICE_NAME,
  status: "online",
  role: "public relay, indexer, and protocol API surface",
  phase: "devnet headless API",
  network: source.networkAddress,
  programs: {
    custody: source.deployment.custodyProgram,
    attestor: source.deployment.attestorProgram,
  },
  protocol: "Agent Attestation Protocol (AAP)",
  settlement: "merchant attestation, smart-contract custody of funds, and automatic refund",
  thesis:
    "A payment by an agent is settled by an attested delivery claim: the merchant is paid when its attestor signs one, and the agent is refunded when it does not.",
  primary_wedge: "api_data_commerce",
  mainnet_beta_limits: {
    status: BETA_LIMITS.status,
    first_wedge: BETA_LIMITS.firstWedge,
    max_escrow_usdc: formatUsdc(BETA_LIMITS.maxEscrowAmount).slice(0, -4),
    max_ttl_seconds: BETA_LIMITS.maxTtlSeconds,
    supported_assets: [...BETA_LIMITS.supportedAssets],
    required_controls: [...BETA_LIMITS.requiredControls],
  },
  links: {
    site: `${source.origin}/`,
    docs: `${source.origin}/docs`,
    demo: `${source.origin}/#demo`,
    api: `${source.origin}/v1`,
  },
  endpoints: ENDPOINTS,
});
