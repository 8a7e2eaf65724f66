import type { Address } from "../../../core/domain/address.ts";
import { taskHash } from "../../../core/domain/escrow/task-hash.ts";
import { proofHash } from "../../../core/domain/evidence/proof-template.ts";
import { type Hash32, hash32FromBytes } from "../../../core/domain/hash32.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import { termsIn } from "../../../core/protocol/accounts/escrow-account.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import { escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import {
  attestationMessage,
  domainOf,
  SINGLE_DELIVERY,
} from "../../../core/protocol/instructions/attestation.ts";
import { ed25519Instruction } from "../../../core/protocol/instructions/ed25519-instruction.ts";
import {
  registerMerchantInstruction,
  setMerchantStatusInstruction,
} from "../../../core/protocol/instructions/attestor-instructions.ts";
import {
  claimRefundInstruction,
  createEscrowInstruction,
  releaseEscrowInstruction,
  returnRentInstruction,
} from "../../../core/protocol/instructions/custody-instructions.ts";
import { faucet } from "../faucet.ts";
import type { LocalLedger } from "../runtime/ledger.ts";
import {
  LOCAL_AUTHORITY,
  LOCAL_FAUCET,
  LOCAL_USDC_MINT,
  type LocalKey,
  localKey,
} from "./local-keys.ts";
import { runLocally } from "./local-transactions.ts";

/** A merchant of the demo data. */
type DemoMerchant = {
  readonly wallet: LocalKey;
  readonly attestor: LocalKey;
  readonly name: string;
};

/** What an agent of the demo data buys. */
type DemoOrder = {
  readonly agent: LocalKey;
  readonly merchant: DemoMerchant;
  /** The URL that the agent requests from the merchant's API. */
  readonly url: string;
  readonly nonce: string;
  /** Base units. */
  readonly amount: bigint;
  readonly ttlSeconds: number;
};

/** An order whose escrow is open. */
type OpenOrder = DemoOrder & { readonly escrow: Address; readonly taskHash: Hash32 };

/** Locks an order's amount; the task is the request line `GET <url>`. */
const openEscrow = (ledger: LocalLedger, order: DemoOrder): OpenOrder => {
  const agentOwner = order.agent.address;
  const hash = taskHash(`GET ${order.url}`, order.nonce);
  const create = createEscrowInstruction(LOCAL_DEPLOYMENT, {
    payer: agentOwner,
    agentOwner,
    merchant: order.merchant.wallet.address,
    mint: LOCAL_USDC_MINT,
    taskHash: hash,
    amount: order.amount,
    ttlSeconds: order.ttlSeconds,
  });
  runLocally(ledger, order.agent, [], [create]);
  const { address } = escrowAddress(LOCAL_DEPLOYMENT, agentOwner, hash);
  return { ...order, escrow: address, taskHash: hash };
};

/** The hash of the delivery payload (template `api-delivered-v1`) that the attestor signs. */
const deliveryHash = (order: OpenOrder, timestamp: bigint): Hash32 =>
  proofHash({
    proof_template_id: "api-delivered-v1",
    task_hash: order.taskHash,
    request_url: order.url,
    status_code: 200,
    content_sha256: hash32FromBytes(
      new Uint8Array(Bun.SHA256.hash(`{"answer":"to ${order.url}"}`).buffer),
    ),
    delivered_at: formatUnixTime(timestamp),
  });

/** Returns what the vault still holds to the agent. */
const returnRest = (escrow: Address, agent: LocalKey): Instruction =>
  claimRefundInstruction(LOCAL_DEPLOYMENT, {
    escrow,
    mint: LOCAL_USDC_MINT,
    agentOwner: agent.address,
  });

/** Returns the vault's rent to the agent, who paid it. */
const returnRent = (escrow: Address, agent: LocalKey): Instruction =>
  returnRentInstruction(LOCAL_DEPLOYMENT, { escrow, rentPayer: agent.address });

/**
 * Pays the merchant under an attestation made now: the whole amount, or `partialAmount` base units with the rest to the
 * agent.
 */
const releaseEscrow = (ledger: LocalLedger, order: OpenOrder, partialAmount?: bigint): void => {
  const { wallet, attestor } = order.merchant;
  const timestamp = BigInt(ledger.clock.unixTime(ledger.slots.current()));
  const proofHash = deliveryHash(order, timestamp);
  const data = ledger.accounts.read(order.escrow, "processed")?.data ?? new Uint8Array();
  const message = attestationMessage({
    domain: domainOf({ ...LOCAL_DEPLOYMENT, genesisHash: ledger.genesisHash }),
    terms: termsIn(data),
    proofHash,
    total: partialAmount ?? order.amount,
    timestamp,
    ...SINGLE_DELIVERY,
  });
  const { escrow, agent } = order;
  const release = { escrow, mint: LOCAL_USDC_MINT, merchant: wallet.address };
  runLocally(
    ledger,
    wallet,
    [],
    [
      ed25519Instruction({
        publicKey: attestor.address,
        signature: attestor.sign(message),
        message,
      }),
      createAssociatedTokenInstruction({
        payer: wallet.address,
        owner: wallet.address,
        mint: LOCAL_USDC_MINT,
      }),
      releaseEscrowInstruction(LOCAL_DEPLOYMENT, release),
      ...(partialAmount === undefined ? [] : [returnRest(escrow, agent)]),
      returnRent(escrow, agent),
    ],
  );
};

/** Refunds an expired escrow to its agent. The faucet sends it, because anyone may. */
const refundEscrow = (ledger: LocalLedger, { escrow, agent }: OpenOrder): void =>
  void runLocally(ledger, LOCAL_FAUCET, [], [returnRest(escrow, agent), returnRent(escrow, agent)]);

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
