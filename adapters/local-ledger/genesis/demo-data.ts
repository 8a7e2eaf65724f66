import {
  registerMerchantInstruction,
  setMerchantStatusInstruction,
} from "../../../core/protocol/instructions/attestor-instructions.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { type DemoMerchant, openEscrow, refundEscrow, releaseEscrow } from "./demo-orders.ts";
import { faucet } from "../faucet.ts";
import { LOCAL_AUTHORITY, LOCAL_FAUCET, localKey } from "./local-keys.ts";
import { runLocally } from "./local-transactions.ts";
import type { LocalLedger } from "../runtime/ledger.ts";

const MINUTE_MS = 60_000;
const USDC = 1_000_000n;
const SOL = 1_000_000_000n;

/** How far in the past the demo data begins, milliseconds. The demo clock's steps add up to less than this. */
export const DEMO_AGE_MS = 120 * MINUTE_MS;

const merchant = (label: string, name: string): DemoMerchant => ({
  wallet: localKey(`merchant/${label}`),
  attestor: localKey(`attestor/${label}`),
  name,
});

const register = (ledger: LocalLedger, { wallet, attestor, name }: DemoMerchant): void => {
  const instruction = registerMerchantInstruction(LOCAL_DEPLOYMENT, {
    payer: wallet.address,
    merchant: wallet.address,
    attestor: attestor.address,
    name,
  });
  runLocally(ledger, wallet, [], [instruction]);
};

const suspend = (ledger: LocalLedger, { wallet }: DemoMerchant): void => {
  const instruction = setMerchantStatusInstruction(LOCAL_DEPLOYMENT, {
    admin: LOCAL_AUTHORITY.address,
    merchant: wallet.address,
    status: "Suspended",
  });
  runLocally(ledger, LOCAL_FAUCET, [LOCAL_AUTHORITY], [instruction]);
};

/**
 * Makes three merchants (one of them suspended), two agents with mock USDC, and one escrow in each of the four states.
 * Real transactions make them over the ledger's first two hours, which lie in the past.
 */
export const makeDemoData = (ledger: LocalLedger, advance: (ms: number) => void): void => {
  const wait = (minutes: number): void => advance(minutes * MINUTE_MS);
  const { airdrop, airdropTokens } = faucet(ledger);

  const planner = localKey("agent/planner");
  const trader = localKey("agent/trader");
  for (const agent of [planner, trader]) {
    airdrop(agent.address, 10n * SOL);
    airdropTokens(agent.address, 1_000n * USDC);
  }
  const forecast = merchant("forecast", "Skyline Forecast API");
  const prices = merchant("prices", "Tideline Market Data");
  const places = merchant("places", "Harborview Geocoding");
  for (const each of [forecast, prices, places]) {
    airdrop(each.wallet.address, SOL);
    register(ledger, each);
  }
  wait(10);

  const fulfilled = openEscrow(ledger, {
    agent: planner,
    merchant: forecast,
    url: "https://api.skyline.example/v1/forecast?place=lisbon&days=7",
    nonce: "demo-fulfilled",
    amount: 12_500_000n,
    ttlSeconds: 3600,
  });
  wait(4);
  releaseEscrow(ledger, fulfilled);
  wait(11);

  const partly = openEscrow(ledger, {
    agent: trader,
    merchant: prices,
    url: "https://data.tideline.example/v2/trades?pair=SOL-USDC&hours=48",
    nonce: "demo-partial",
    amount: 40n * USDC,
    ttlSeconds: 3600,
  });
  wait(6);
  releaseEscrow(ledger, partly, 25n * USDC);
  wait(9);

  const late = openEscrow(ledger, {
    agent: trader,
    merchant: prices,
    url: "https://data.tideline.example/v2/orderbook?pair=SOL-USDC",
    nonce: "demo-refunded",
    amount: 8n * USDC,
    ttlSeconds: 900,
  });
  wait(20);
  refundEscrow(ledger, late);
  wait(10);
  suspend(ledger, places);
  wait(30);

  openEscrow(ledger, {
    agent: planner,
    merchant: forecast,
    url: "https://api.skyline.example/v1/forecast?place=porto&days=14",
    nonce: "demo-pending",
    amount: 20n * USDC,
    ttlSeconds: 604_800,
  });
};
