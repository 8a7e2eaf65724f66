import type { Address } from "../../core/domain/address.ts";
import { checkEvidence, obtainTrust } from "./check-evidence.ts";
import { deliver } from "./deliver.ts";
import type { DemoFunds } from "./funds/demo-funds.ts";
import type { Narrator } from "./narrator.ts";
import { openEscrow } from "./open-escrow.ts";
import { refund } from "./refund.ts";
import { openStage, registerMerchant } from "./stage.ts";

/** A request that an agent might send to a data API. */
const INTENT = "GET https://api.example.com/v1/quotes?symbol=SOL";
const SHORT_TTL_SECONDS = 2;

/** The addresses of the two escrows that the demo settled. */
export type DemoResult = { readonly released: string; readonly refunded: string };

/**
 * The whole life of two escrows at a running service, paid for by `funds` or else by the local ledger's faucet. One is delivered and released, one expires
 * and is refunded, and the evidence of both is verified. @throws DemoFailed at the first unexpected result.
 */
export const runDemo = async (
  url: string,
  mint: Address,
  narrator: Narrator,
  funds?: DemoFunds,
): Promise<DemoResult> => {
  const stage = await openStage(url, mint, narrator, funds);
  const trust = await obtainTrust(stage);
  await registerMerchant(stage);

  const first = await openEscrow(stage, {
    intent: INTENT,
    amountStroops: "1500000",
    ttlSeconds: 3600,
  });
  await deliver(stage, first);
  await checkEvidence(stage, trust, first.escrow_pda, {
    status: "released",
    events: ["escrow_released", "escrow_created"],
  });

  const second = await openEscrow(stage, {
    intent: INTENT,
    amountStroops: "2500000",
    ttlSeconds: SHORT_TTL_SECONDS,
  });
  await refund(stage, second, SHORT_TTL_SECONDS);
  await checkEvidence(stage, trust, second.escrow_pda, {
    status: "refunded",
    events: ["escrow_refunded", "escrow_created"],
  });
  return { released: first.escrow_pda, refunded: second.escrow_pda };
};
