import { readFileSync } from "node:fs";
import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit";
import { connect, SettlementError } from "settlement-evidence";

// The project's own client, driven as docs/pays-once.md says.
const env = (name: string): string => process.env[name] ?? "";
const signer = await createKeyPairSignerFromPrivateKeyBytes(Buffer.from(env("AGENT_KEY"), "hex"));
const client = connect(env("SERVICE_URL"), { trust: readFileSync(env("TRUST_FILE"), "utf8") });
try {
  const { escrow } = await client.pay({
    merchant: env("MERCHANT"),
    mint: env("MINT"),
    amount: env("AMOUNT"),
    task: env("TASK"),
    nonce: env("NONCE"),
    ttl: Number(env("TTL")),
    signer,
  });
  console.log(escrow);
} catch (cause) {
  if (!(cause instanceof SettlementError)) throw cause;
  const isPassing =
    cause.code === "service_unreachable" ||
    cause.code === "payment_expired" ||
    cause.status === 429 ||
    (cause.status ?? 0) >= 500;
  console.error(`${cause.code}: ${cause.message}`);
  process.exit(isPassing ? 75 : 1);
}
