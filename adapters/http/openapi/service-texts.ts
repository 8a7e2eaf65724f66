/** What the service is, and the conventions of its values, in Markdown. */
export const SERVICE_DESCRIPTION = `Records what a merchant's attestor asserted about a delivery and what the ledger did with an agent's payment:
escrow custody on Solana, Ed25519 attestation, automatic refund, and evidence packets that anyone can verify offline.

Amounts are decimal strings in base units (\`*_stroops\`). Beside them \`*_usdc\` is a rendering with six decimals;
of escrows and events it is null unless this service lists the mint as USDC.
Times are RFC 3339 in UTC, addresses base58, hashes lower-case hex. Errors are RFC 9457 problem documents;
their \`type\` is a path of this service that explains the problem and its cure. No operation asks for a
credential: authority over an escrow is the signature inside a transaction.`;

/** The groups of operations, in the order of the documentation. */
export const SERVICE_TAGS = [
  { name: "Escrows", description: "Prepare and read escrows." },
  {
    name: "Evidence",
    description: "Packets that show what became of a payment, and what to trust.",
  },
  { name: "Merchants", description: "Registered merchants and their attestor keys." },
  { name: "Proof templates", description: "Shapes of delivery payloads." },
  { name: "Settlement log", description: "The ledger's events in a Merkle tree (docs/log.md)." },
  { name: "Wallets", description: "Solana Actions and Solana Pay: links that any wallet opens." },
  { name: "Index", description: "The persistent index of escrows and events." },
  { name: "Relay", description: "Broadcast of transactions that are already signed." },
  {
    name: "x402",
    description:
      "The facilitator of the x402 scheme `escrow` (docs/x402-escrow-svm.md). Answers have x402's own shapes.",
  },
  { name: "Log", description: "The settlement log and its witnesses." },
  { name: "Service", description: "The service itself." },
] as const;
