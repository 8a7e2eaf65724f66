/** The planned limits of a beta on mainnet. Always reported, enforced only where configured. */
export const BETA_LIMITS = {
  status: "planned_limited_beta",
  firstWedge: "api_data_commerce",
  /** Base units: 100.00 USDC. */
  maxEscrowAmount: 100_000_000n,
  maxTtlSeconds: 86_400,
  supportedAssets: ["USDC"],
  requiredControls: [
    "external_contract_review",
    "merchant_allowlist",
    "evidence_signing_key",
    "rate_limited_public_relay",
    "upgrade_authority_policy",
  ],
} as const;
