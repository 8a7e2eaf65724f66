import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { signedTransaction } from "../../adapters/local-ledger/genesis/signed-transaction.ts";
import { buy, registerMerchant } from "../../app/demo/run-demo.ts";
import { openStage, type Stage } from "../../app/demo/stage.ts";
import type { LiveEscrow } from "../../client/generated/contract.ts";
import type { DeployKey } from "../../app/deploy/inputs/deploy-key.ts";
import { address } from "../../core/domain/address.ts";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { rotateAttestorInstruction } from "../../core/protocol/instructions/attestor-instructions.ts";
import { claimRefundInstruction } from "../../core/protocol/instructions/custody-instructions.ts";
import { withDemoLedger } from "./support/demo-ledger.ts";
import {
  latestBlockhash,
  quietEnvironment,
  temporaryDirectory,
  until,
  untilReady,
} from "./support/running-service.ts";
import { type ServiceProcess, startShortLivedService } from "./support/service-process.ts";
import { silentNarrator } from "./commands/silent-narrator.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
let url: string;
let stage: Stage;
let escrow: LiveEscrow;

const start = async (): Promise<void> => {
  service = startShortLivedService({ ...quietEnvironment(directory.path), LOG_LEVEL: "info" });
  url = await service.url;
  await untilReady(url);
};

beforeAll(async () => {
  directory = await temporaryDirectory();
  withDemoLedger(directory.path);
  await start();
  stage = await openStage(url, silentNarrator);
  await registerMerchant(stage);
  escrow = await buy(stage, { units: 7n, ttl: 600 });
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
const transactionOf = async (
  payer: DeployKey,
  instruction: Parameters<typeof signedTransaction>[0]["instructions"][number],
): Promise<string> => {
  const blockhash = await latestBlockhash(url);
  return encodeBase64(signedTransaction({ payer, instructions: [instruction], blockhash }));
};
const rotation = (key: DeployKey): Promise<string> => {
  const { merchant } = stage.parties;
  const rotate = { merchant: merchant.address, attestor: key.address };
  return transactionOf(merchant, rotateAttestorInstruction(LOCAL_DEPLOYMENT, rotate));
};
const outcomeOf = async (signature: string): Promise<Record<string, unknown>> =>
  (
    (await (await fetch(`${url}/v1/relay/${signature}`)).json()) as {
      data: Record<string, unknown>;
    }
  ).data;

test("a refund before expiry is refused by the rule, even without a simulation", async () => {
  const refund = claimRefundInstruction(LOCAL_DEPLOYMENT, {
    escrow: address(escrow.escrow_pda),
    mint: stage.mint.address,
    agentOwner: stage.parties.agent.address,
  });
  const transaction = await transactionOf(stage.parties.passerBy, refund);
  const response = await relay(transaction, { skip_preflight: true });
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({
    code: "settlement_check_failed",
    rule: "not_expired",
    instruction_index: 0,
  });
});

test("a hundred identical concurrent requests get a hundred equal answers", async () => {
  const transaction = await rotation(stage.parties.passerBy);
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
const killedAfterRelay = async (key: DeployKey): Promise<string> => {
  const response = await relay(await rotation(key));
  const { data } = (await response.json()) as { data: { signature: string } };
  service.kill("SIGKILL");
  await service.ended;
  return data.signature;
};

test("a service that was killed before an outcome was known finds it after its restart", async () => {
  let signature = await killedAfterRelay(stage.parties.agent);
  // Each rotation names another key than the one before.
  for (let kills = 1; rowOf(signature)?.outcome !== null; kills++) {
    expect(rowOf(signature)).toEqual({ outcome: "landed" });
    await start();
    signature = await killedAfterRelay(
      kills % 2 === 0 ? stage.parties.agent : stage.parties.passerBy,
    );
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
