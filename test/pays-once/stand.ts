import { localKey, LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { withDemoLedger } from "../app/support/demo-ledger.ts";
import { quietEnvironment, temporaryDirectory, until } from "../app/support/running-service.ts";
import { startShortLivedService } from "../app/support/service-process.ts";
import { spawnLedger } from "../adapters/local-ledger/ledger-process.ts";
import { localFaucet } from "../../app/demo/local-funds.ts";
import { type Address, address } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import { decodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { CUSTODY_ACCOUNTS } from "../../core/protocol/generated/custody.ts";

/** Who is paid, and in which mint. */
export const MERCHANT = localKey("merchant/forecast");
export const MINT = LOCAL_USDC_MINT;

const FUNDS = 25_000_000;

type Status = { readonly data: { readonly network: { readonly rpc_address: string } } };

/** What an agent has on the ledger: base units of the mint, and the escrows that it made. */
export type Holdings = { readonly units: bigint; readonly escrows: ReadonlyArray<string> };

/** A service process on an embedded ledger of its own, which can be killed and started again at any time. */
export type Stand = {
  /** The service's address; another one after a restart. */
  readonly url: () => string;
  /** The address of its ledger's RPC; another one after a restart. */
  readonly rpc: () => string;
  /** The trust document, as the service gave it at its first start. */
  readonly trust: string;
  /** Kills the service with SIGKILL and starts it on the same data, the ledger's time some days later. */
  readonly restart: (skippedDays?: number) => Promise<void>;
  /** Gives a wallet SOL for fees and USDC. */
  readonly fund: (wallet: Address) => Promise<void>;
  /** What the ledger itself, not the service, says about a wallet. */
  readonly holdings: (wallet: Address) => Promise<Holdings>;
  /** An escrow's account, as the ledger itself shows it. @throws Error for an account that is no escrow */
  readonly escrow: (escrow: Address) => Promise<Escrow>;
  readonly stop: () => Promise<void>;
};

/** Starts a stand with the demo data. */
export const startStand = async (): Promise<Stand> => {
  const directory = await temporaryDirectory();
  const env = { ...quietEnvironment(withDemoLedger(directory.path)), LOG_LEVEL: "info" };
  const start = async () => {
    const service = startShortLivedService(env);
    const url = await service.url;
    await until(
      "the service is ready",
      () => fetch(`${url}/ready`).then(({ status }) => status),
      (status) => status === 200,
      120,
    );
    const { data } = (await (await fetch(`${url}/v1/status`)).json()) as Status;
    return { ...service, url, rpc: data.network.rpc_address };
  };
  let service = await start();
  const trust = await (await fetch(`${service.url}/.well-known/evidence-trust.json`)).text();

  const rpc = async <A>(method: string, ...params: ReadonlyArray<unknown>): Promise<A> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(service.rpc, { method: "POST", headers, body });
    return ((await answer.json()) as { readonly result: A }).result;
  };
  const newest = { encoding: "jsonParsed", commitment: "processed" };

  return {
    url: () => service.url,
    rpc: () => service.rpc,
    trust,
    restart: async (skippedDays = 0) => {
      service.kill("SIGKILL");
      await service.ended;
      if (skippedDays > 0) {
        const { child } = await spawnLedger(directory.path, "--skip-days", `${skippedDays}`);
        child.kill("SIGTERM");
        await child.exited;
      }
      service = await start();
    },
    fund: async (wallet) => {
      const faucet = localFaucet(service.rpc);
      await faucet.sol(wallet, 1);
      await faucet.usdc(wallet, FUNDS);
    },
    holdings: async (wallet) => {
      const tokens = await rpc<{
        value: ReadonlyArray<{
          account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } };
        }>;
      }>("getTokenAccountsByOwner", wallet, { mint: MINT }, newest);
      const { agentOwner } = CUSTODY_ACCOUNTS.Escrow.at;
      const made = await rpc<ReadonlyArray<{ pubkey: string }>>(
        "getProgramAccounts",
        address(LOCAL_DEPLOYMENT.custodyProgram),
        {
          encoding: "base64",
          commitment: "processed",
          filters: [{ memcmp: { offset: agentOwner, bytes: wallet } }],
        },
      );
      const [first] = tokens.value;
      return {
        units: BigInt(first?.account.data.parsed.info.tokenAmount.amount ?? 0),
        escrows: made.map(({ pubkey }) => pubkey),
      };
    },
    escrow: async (escrow) => {
      const options = { encoding: "base64", commitment: "processed" };
      const { value } = await rpc<{ value: { owner: Address; data: [string] } | null }>(
        "getAccountInfo",
        escrow,
        options,
      );
      const data = new Uint8Array(Buffer.from(value?.data[0] ?? "", "base64"));
      const owner = address(value?.owner ?? escrow);
      const decoded = decodeEscrowAccount({ owner, data, address: escrow }, LOCAL_DEPLOYMENT);
      if ("fault" in decoded) throw new Error(`${escrow} is no escrow: ${decoded.fault}`);
      return decoded.value;
    },
    stop: async () => {
      service.kill("SIGKILL");
      await service.ended;
      await directory.remove();
    },
  };
};
