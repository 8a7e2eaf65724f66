import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalKey, localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import {
  registerMerchantInstruction,
  rotateAttestorInstruction,
} from "../../../core/protocol/instructions/attestor-instructions.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { quietEnvironment, until } from "../../app/support/running-service.ts";
import { startServiceProcess } from "../../app/support/service-process.ts";
import { embeddedLedger } from "./embedded-ledger.ts";

const MERCHANTS = 20;
const merchants = Array.from({ length: MERCHANTS }, (_, i) => localKey(`merchant of a bench ${i}`));

/** A service on an embedded ledger, started from this `app/main.ts`, with merchants that rotate attestors. */
export const relayBench = async (main: string) => {
  const dataDir = mkdtempSync(join(tmpdir(), "settlement-bench-"));
  const env = { LOG_LEVEL: "info", LOCAL_LEDGER_DEMO: "false", TRUSTED_PROXIES: "127.0.0.1" };
  const service = startServiceProcess({ ...quietEnvironment(dataDir), ...env }, main);
  const url = await service.url;
  const isReady = () => fetch(`${url}/ready`).then(({ status }) => status === 200);
  await until("the service is ready", isReady, (ready) => ready, 60);
  const { call, latestBlockhash, signed } = await embeddedLedger(url);

  /** Posts a transaction as one of many clients. Throws unless it is accepted. */
  const post = async (client: number, body: object): Promise<void> => {
    const from = `10.0.${client >> 8}.${client & 255}`;
    const response = await fetch(`${url}/v1/relay`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": from },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.status !== 202) throw new Error(`${response.status}: ${text}`);
  };

  let last = "";
  const atOnce = { commitment: "processed" };
  for (const { address } of merchants)
    last = await call("requestAirdrop", address, 1_000_000_000, atOnce);
  type Statuses = { value: ReadonlyArray<{ confirmationStatus: string } | null> };
  await until(
    "the merchants are funded",
    () => call<Statuses>("getSignatureStatuses", [last]),
    ({ value }) => value[0]?.confirmationStatus === "finalized",
    60,
  );
  for (const [n, merchant] of merchants.entries()) {
    const registration = registerMerchantInstruction(LOCAL_DEPLOYMENT, {
      payer: merchant.address,
      merchant: merchant.address,
      attestor: localKey("attestor of a bench").address,
      name: `Bench ${n}`,
    });
    const transaction = signed(merchant, registration, await latestBlockhash());
    await post(n, { signed_transaction: transaction, confirm: true });
  }

  let rotations = 0;
  const rotation = (merchant: LocalKey, blockhash: string): string =>
    signed(
      merchant,
      rotateAttestorInstruction(LOCAL_DEPLOYMENT, {
        merchant: merchant.address,
        attestor: localKey(`attestor of a bench ${rotations++}`).address,
      }),
      blockhash,
    );
  return {
    /** Relays `each` transactions of every merchant within a second, each from its own address. */
    relay: async (options: {
      readonly each: number;
      readonly connections: number;
      readonly skipPreflight: boolean;
    }): Promise<number> => {
      const blockhash = await latestBlockhash();
      const work = Array.from({ length: options.each }, () =>
        merchants.map((merchant) => ({
          signed_transaction: rotation(merchant, blockhash),
          skip_preflight: options.skipPreflight,
        })),
      ).flat();
      const count = work.length;
      const startMs = performance.now();
      const connection = async (): Promise<void> => {
        for (let body = work.pop(); body !== undefined; body = work.pop())
          await post(work.length, body);
      };
      await Promise.all(Array.from({ length: options.connections }, connection));
      return count / ((performance.now() - startMs) / 1000);
    },
    stop: async (): Promise<void> => {
      service.kill("SIGTERM");
      await service.ended;
      rmSync(dataDir, { recursive: true });
    },
  };
};
