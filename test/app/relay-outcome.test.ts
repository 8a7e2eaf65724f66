import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import type { EscrowRecord } from "../../adapters/http/escrow/escrow-contract.ts";
import { openEscrow } from "../../app/demo/open-escrow.ts";
import { openStage, registerMerchant, type Stage } from "../../app/demo/stage.ts";
import { address } from "../../core/domain/address.ts";
import { rotateAttestorInstruction } from "../../core/protocol/instructions/attestor-instructions.ts";
import { claimRefundInstruction } from "../../core/protocol/instructions/custody-instructions.ts";
import { withDemoLedger } from "./support/demo-ledger.ts";
import { quietEnvironment, temporaryDirectory, until } from "./support/running-service.ts";
import { type ServiceProcess, startShortLivedService } from "./support/service-process.ts";
import { silentNarrator } from "./commands/silent-narrator.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
let url: string;
let stage: Stage;
let escrow: EscrowRecord;

const start = async (): Promise<void> => {
  service = startShortLivedService({ ...quietEnvironment(directory.path), LOG_LEVEL: "info" });
  url = await service.url;
  await until(
    "the service is ready",
    () => fetch(`${url}/ready`).then(({ status }) => status),
    (status) => status === 200,
  );
};

beforeAll(async () => {
  directory = await temporaryDirectory();
  withDemoLedger(directory.path);
  await start();
  stage = await openStage(url, LOCAL_USDC_MINT, silentNarrator);
  await registerMerchant(stage);
  const purchase = { intent: "GET /quotes", amountStroops: "7", ttlSeconds: 600 };
  escrow = await openEscrow(stage, purchase);
}, 60_000);

afterAll(async () => {
  service.kill("SIGKILL");
  await service.ended;
  await directory.remove();
});

const relay = (transaction: string, more: Record<string, unknown> = {}) =>
  fetch(`${url}/v1/relay`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ signed_transaction: transaction, ...more }),
  });
const rotation = async (key: { readonly address: string }): Promise<string> =>
  stage.merchant.transaction(
    [
      rotateAttestorInstruction(stage.deployment, {
        merchant: stage.merchant.address,
        attestor: address(key.address),
      }),
    ],
    await stage.faucet.latestBlockhash(),
  );
const outcomeOf = async (signature: string): Promise<Record<string, unknown>> =>
  (
    (await (await fetch(`${url}/v1/relay/${signature}`)).json()) as {
      data: Record<string, unknown>;
    }
  ).data;

test("a refund before expiry is refused by the rule, even without a simulation", async () => {
  const refund = claimRefundInstruction(stage.deployment, {
    escrow: address(escrow.escrow_pda),
    mint: stage.mint,
    rentPayer: stage.agent.address,
    agentOwner: stage.agent.address,
  });
  const transaction = await stage.passerBy.transaction(
    [refund],
    await stage.faucet.latestBlockhash(),
  );
  const response = await relay(transaction, { skip_preflight: true });
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({
    code: "settlement_check_failed",
    rule: "not_expired",
    instruction_index: 0,
  });
});

test("a hundred identical concurrent requests get a hundred equal answers", async () => {
  const transaction = await rotation(stage.passerBy);
  const answers = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const response = await relay(transaction);
      expect(response.status).toBe(202);
      return response.text();
    }),
  );
  expect(new Set(answers).size).toBe(1);
});

const rowOf = (signature: string) => {
  const log = new Database(join(directory.path, "relay.sqlite"), { readonly: true });
  try {
    return log
      .query<{ outcome: string | null }, [string]>("SELECT outcome FROM relay WHERE signature = ?1")
      .get(signature);
  } finally {
    log.close();
  }
};

/** Relays a transaction and kills the service. On a busy machine the outcome may be known before the kill. */
const killedAfterRelay = async (key: { readonly address: string }): Promise<string> => {
  const response = await relay(await rotation(key));
  const { data } = (await response.json()) as { data: { signature: string } };
  service.kill("SIGKILL");
  await service.ended;
  return data.signature;
};

test("a service that was killed before an outcome was known finds it after its restart", async () => {
  let signature = await killedAfterRelay(stage.agent);
  // Each rotation names another key than the one before.
  for (let kills = 1; rowOf(signature)?.outcome !== null; kills++) {
    expect(rowOf(signature)).toEqual({ outcome: "landed" });
    await start();
    signature = await killedAfterRelay(kills % 2 === 0 ? stage.agent : stage.passerBy);
  }
  await start();
  await until(
    "the outcome is known",
    async () => rowOf(signature)?.outcome,
    (outcome) => outcome === "landed",
  );
  expect(await outcomeOf(signature)).toMatchObject({
    status: "landed",
    commitment: "finalized",
    error: null,
    safe_to_sign_again: false,
  });
}, 60_000);
