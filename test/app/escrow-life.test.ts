import { afterAll, beforeAll, expect, test } from "bun:test";
import { address } from "../../core/domain/address.ts";
import { proofHash } from "../../core/domain/proof-template.ts";
import { attestationMessage } from "../../core/protocol/attestation.ts";
import { releasePartialInstruction } from "../../core/protocol/custody-instructions.ts";
import { ed25519Instruction } from "../../core/protocol/ed25519-instruction.ts";
import { createAssociatedTokenInstruction } from "../../core/protocol/token.ts";
import type { EscrowRecord } from "../../adapters/http/schemas/escrow.ts";
import { LOCAL_USDC_MINT } from "../../adapters/local-ledger/local-keys.ts";
import { checkEvidence, obtainTrust } from "../../app/demo/check-evidence.ts";
import { openEscrow } from "../../app/demo/open-escrow.ts";
import { runDemo } from "../../app/demo/run-demo.ts";
import { openStage, registerMerchant, relayAs } from "../../app/demo/stage.ts";
import { quietEnvironment, runService, temporaryDirectory, until } from "./running-service.ts";
import { silentNarrator } from "./silent-narrator.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: Awaited<ReturnType<typeof runService>>;

const start = async (): Promise<void> => {
  service = await runService(quietEnvironment(directory.path));
  await until(
    "the service is ready",
    () => fetch(`${service.url}/ready`).then(({ status }) => status),
    (status) => status === 200,
  );
};
const textOf = async (path: string): Promise<string> => (await fetch(service.url + path)).text();
const escrowOf = async (escrow: string): Promise<EscrowRecord> =>
  (JSON.parse(await textOf(`/v1/escrows/${escrow}`)) as { data: EscrowRecord }).data;

/** What the ledger itself says: the tokens of an account, null where there is none. */
const tokensOf = async (account: string): Promise<string | null> => {
  const response = await fetch(service.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "getTokenAccountBalance",
      params: [account],
    }),
  });
  const { result } = (await response.json()) as { result?: { value: { amount: string } } };
  return result?.value.amount ?? null;
};

beforeAll(async () => {
  directory = await temporaryDirectory();
  await start();
});

afterAll(async () => {
  await service.stop();
  await directory.remove();
});

test("the demo releases one escrow, refunds another and verifies both, and its vaults are gone", async () => {
  const { released, refunded } = await runDemo(service.url, LOCAL_USDC_MINT, silentNarrator);
  for (const [escrow, state] of [
    [released, "Fulfilled"],
    [refunded, "Refunded"],
  ] as const) {
    const { vault_token_account, ...settled } = await escrowOf(escrow);
    expect(settled).toMatchObject({ state, refundable: false, next_actions: [] });
    expect(await tokensOf(vault_token_account)).toBeNull();
  }
}, 30_000);

test("a partial release pays both sides, and everything survives a restart", async () => {
  const stage = await openStage(service.url, LOCAL_USDC_MINT, silentNarrator);
  const trust = await obtainTrust(stage);
  await registerMerchant(stage);
  const escrow = await openEscrow(stage, {
    intent: "GET /quotes",
    amountStroops: "5000000",
    ttlSeconds: 600,
  });
  expect(await tokensOf(escrow.vault_token_account)).toBe("5000000");

  const claim = {
    escrow: address(escrow.escrow_pda),
    proofHash: proofHash({ proof_template_id: "api-delivered-v1", task_hash: escrow.task_hash }),
    timestamp: BigInt(Date.parse(escrow.created_at) / 1000),
  };
  const message = attestationMessage({ ...claim, partialAmount: 2_000_000n });
  const parties = { mint: stage.mint, merchant: stage.merchant.address };
  await relayAs(stage, "merchant", stage.merchant, "release_partial", [
    ed25519Instruction({
      publicKey: stage.attestor.address,
      signature: await stage.attestor.sign(message),
      message,
    }),
    createAssociatedTokenInstruction({
      payer: stage.merchant.address,
      owner: stage.merchant.address,
      mint: stage.mint,
    }),
    releasePartialInstruction(stage.deployment, {
      ...claim,
      ...parties,
      agentOwner: stage.agent.address,
      rentPayer: stage.agent.address,
      amount: 2_000_000n,
    }),
  ]);
  const settled = await escrowOf(escrow.escrow_pda);
  expect(settled).toMatchObject({
    state: "PartiallyFulfilled",
    released_stroops: "2000000",
    refunded_stroops: "3000000",
    proof_hash: claim.proofHash,
  });
  await checkEvidence(stage, trust, escrow.escrow_pda, {
    status: "released",
    events: ["escrow_partially_released", "escrow_created"],
  });

  const kept = [
    `/v1/evidence/${escrow.escrow_pda}`,
    "/.well-known/evidence-trust.json",
    "/v1/indexer/events?limit=500",
  ];
  const rows = async () => (JSON.parse(await textOf(kept[2] ?? "")) as { data: unknown }).data;
  const before = [await textOf(kept[0] ?? ""), await textOf(kept[1] ?? ""), await rows()];
  await service.stop();
  await start();
  expect([await textOf(kept[0] ?? ""), await textOf(kept[1] ?? ""), await rows()]).toEqual(before);
  expect(await escrowOf(escrow.escrow_pda)).toEqual(settled);
}, 30_000);
