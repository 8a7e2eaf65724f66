import { afterAll, expect, test } from "bun:test";
import { address } from "../../core/domain/address.ts";
import { proofHash } from "../../core/domain/evidence/proof-template.ts";
import { attestationMessage } from "../../core/protocol/instructions/attestation.ts";
import { releasePartialInstruction } from "../../core/protocol/instructions/custody-instructions.ts";
import { ed25519Instruction } from "../../core/protocol/instructions/ed25519-instruction.ts";
import { createAssociatedTokenInstruction } from "../../core/protocol/accounts/token.ts";
import type { EscrowRecord } from "../../adapters/http/escrow/escrow-contract.ts";
import { LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { checkEvidence, obtainTrust } from "../../app/demo/check-evidence.ts";
import { openEscrow } from "../../app/demo/open-escrow.ts";
import { runDemo } from "../../app/demo/run-demo.ts";
import { openStage, registerMerchant, relayAs } from "../../app/demo/stage.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
} from "./support/running-service.ts";
import { silentNarrator } from "./commands/silent-narrator.ts";

type Service = Awaited<ReturnType<typeof runService>>;

const directories: Array<Awaited<ReturnType<typeof temporaryDirectory>>> = [];
const running = new Set<Service>();

/** Slots between `confirmed` and `finalized`: none, and those of a cluster. */
const FINALITY_SLOTS = [0, 32];

const start = async (dataDir: string, finalitySlots: number): Promise<Service> => {
  const service = await runService({
    ...quietEnvironment(dataDir),
    LOCAL_LEDGER_FINALITY_SLOTS: String(finalitySlots),
  });
  running.add(service);
  await until(
    "the service is ready",
    () => fetch(`${service.url}/ready`).then(({ status }) => status),
    (status) => status === 200,
  );
  return service;
};
const stop = async (service: Service): Promise<void> => {
  running.delete(service);
  await service.stop();
};
const freshDirectory = async (): Promise<string> => {
  const directory = await temporaryDirectory();
  directories.push(directory);
  return directory.path;
};
const textOf = async ({ url }: Service, path: string): Promise<string> =>
  (await fetch(url + path)).text();
const escrowOf = async (service: Service, escrow: string): Promise<EscrowRecord> =>
  (JSON.parse(await textOf(service, `/v1/escrows/${escrow}`)) as { data: EscrowRecord }).data;

/** The tokens of an account on the confirmed ledger, null when there is none. */
const tokensOf = async ({ rpcUrl }: Service, account: string): Promise<string | null> => {
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "getTokenAccountBalance",
      params: [account, { commitment: "confirmed" }],
    }),
  });
  const { result } = (await response.json()) as { result?: { value: { amount: string } } };
  return result?.value.amount ?? null;
};

afterAll(async () => {
  await Promise.all([...running].map(stop));
  await Promise.all(directories.map(({ remove }) => remove()));
});

test.concurrent.each(FINALITY_SLOTS)(
  "finalized %i slots late, the demo releases one escrow, refunds another and verifies both, and its vaults are gone",
  async (slots) => {
    const service = await start(await freshDirectory(), slots);
    const { released, refunded } = await runDemo(service.url, LOCAL_USDC_MINT, silentNarrator);
    for (const [escrow, state] of [
      [released, "Fulfilled"],
      [refunded, "Refunded"],
    ] as const) {
      const { vault_token_account, ...settled } = await escrowOf(service, escrow);
      expect(settled).toMatchObject({ state, refundable: false, next_actions: [] });
      expect(await tokensOf(service, vault_token_account)).toBeNull();
    }
  },
  90_000,
);

test.concurrent.each(FINALITY_SLOTS)(
  "finalized %i slots late, a partial release pays both sides, and everything survives a restart",
  async (slots) => {
    const dataDir = await freshDirectory();
    const service = await start(dataDir, slots);
    const stage = await openStage(service.url, LOCAL_USDC_MINT, silentNarrator);
    const trust = await obtainTrust(stage);
    await registerMerchant(stage);
    const escrow = await openEscrow(stage, {
      intent: "GET /quotes",
      amountStroops: "5000000",
      ttlSeconds: 600,
    });
    expect(await tokensOf(service, escrow.vault_token_account)).toBe("5000000");

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
    const settled = await escrowOf(service, escrow.escrow_pda);
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
    const keptBy = async (asked: Service) => {
      const [evidence, trustDocument, events] = await Promise.all(
        kept.map((path) => textOf(asked, path)),
      );
      return [evidence, trustDocument, (JSON.parse(events ?? "") as { data: unknown }).data];
    };
    await until(
      "the log holds the settlement",
      () => textOf(service, `/v1/evidence/${escrow.escrow_pda}`),
      (text) => !text.includes('"log":null'),
    );
    const before = await keptBy(service);
    await stop(service);
    const again = await start(dataDir, slots);
    expect(await keptBy(again)).toEqual(before);
    expect(await escrowOf(again, escrow.escrow_pda)).toEqual(settled);
  },
  90_000,
);
