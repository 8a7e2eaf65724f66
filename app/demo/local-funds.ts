import type { Address } from "../../core/domain/address.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { type Fetch, fetchDirectly } from "../../client/service/fetch-directly.ts";
import { SettlementError } from "../../client/settlement-error.ts";
import { type DeployKey, deployKeyOf } from "../deploy/inputs/deploy-key.ts";
import { eventually, failed } from "./expected.ts";

/** The parties of the demo. */
export type Parties = {
  readonly agent: DeployKey;
  readonly merchant: DeployKey;
  readonly attestor: DeployKey;
  readonly passerBy: DeployKey;
};

/**
 * Where the parties act: the programs, what is paid in, and the address of the ledger's node as the service shows it.
 */
export type Place = {
  readonly deployment: Deployment;
  readonly mint: Address;
  readonly rpcUrl: string;
};

/** Parties with what they need for two escrows. Rejects with SettlementError or DeployStopped. */
export type DemoFunds = (place: Place) => Promise<Parties>;

const LAMPORTS_PER_SOL = 1_000_000_000;
const CONFIRM_SECONDS = 30;

type Statuses = {
  readonly value: ReadonlyArray<{ readonly confirmationStatus: string | null } | null>;
};

/** Play money of the local ledger. */
export type LocalFaucet = {
  /** Sends SOL to an address. */
  readonly sol: (to: Address, sol: number) => Promise<void>;
  /** Sends mock USDC in base units to an address. */
  readonly usdc: (to: Address, stroops: number) => Promise<void>;
};

/**
 * The faucet of the local ledger whose RPC address is `rpcUrl`. `tell` sends what is asked for. Every method rejects
 * with SettlementError.
 */
export const localFaucet = (rpcUrl: string, tell: Fetch = fetchDirectly): LocalFaucet => {
  const call = async <A>(send: Fetch, method: string, params: ReadonlyArray<unknown>) => {
    const response = await send(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    }).catch((cause: unknown) => {
      throw new SettlementError(
        "node_unusable",
        `${method}: no answer from ${rpcUrl}.`,
        "Start the service again, with its local ledger.",
        { cause },
      );
    });
    const answer = (await response.json()) as { result?: A; error?: { message: string } };
    if (answer.result === undefined)
      throw failed(
        `${method}: ${answer.error?.message ?? "no result"}.`,
        "Only the local ledger gives play money; elsewhere add --payer-key FILE.",
      );
    return answer.result;
  };
  // Waits for `confirmed`, at the end of the slot, because the service reads at that level.
  const give = async (method: string, params: ReadonlyArray<unknown>): Promise<void> => {
    const signature = await call<string>(tell, method, params);
    await eventually(
      `${method} is confirmed`,
      CONFIRM_SECONDS,
      () => call<Statuses>(fetchDirectly, "getSignatureStatuses", [[signature]]),
      ({ value }) => ["confirmed", "finalized"].includes(value[0]?.confirmationStatus ?? ""),
    );
  };
  return {
    sol: (to, sol) => give("requestAirdrop", [to, sol * LAMPORTS_PER_SOL]),
    usdc: (to, stroops) => give("requestTokenAirdrop", [to, stroops]),
  };
};

const newKey = (): DeployKey => deployKeyOf(crypto.getRandomValues(new Uint8Array(32)));

/** Play money from the local ledger's faucet, for new keys. Nothing goes back. */
export const localFunds =
  (tell: Fetch): DemoFunds =>
  async ({ rpcUrl }) => {
    const faucet = localFaucet(rpcUrl, tell);
    const [agent, merchant, attestor, passerBy] = [newKey(), newKey(), newKey(), newKey()];
    await Promise.all([
      faucet.sol(agent.address, 10),
      faucet.sol(merchant.address, 10),
      faucet.sol(passerBy.address, 1),
      faucet.usdc(agent.address, 25_000_000),
    ]);
    return { agent, merchant, attestor, passerBy };
  };
