import { fetchDirectly } from "../../../client/service/fetch-directly.ts";
import type { Address } from "../../../core/domain/address.ts";
import { DemoFailed, eventually, ServiceUnreachable } from "../demo-failed.ts";
import type { Narrator } from "../narrator.ts";

const LAMPORTS_PER_SOL = 1_000_000_000;
const CONFIRM_SECONDS = 30;

type Statuses = {
  readonly value: ReadonlyArray<{ readonly confirmationStatus: string | null } | null>;
};

/** The demo's requests to the ledger itself: play money and a fresh blockhash. */
export type LocalFaucet = {
  /** Sends SOL to an address. */
  readonly sol: (to: Address, sol: number) => Promise<void>;
  /** Sends mock USDC in base units to an address. */
  readonly usdc: (to: Address, stroops: number) => Promise<void>;
  readonly latestBlockhash: () => Promise<string>;
};

/** The faucet of the local ledger whose RPC address is `rpcUrl`. Every method throws DemoFailed. */
export const localFaucet = (rpcUrl: string, narrator: Narrator): LocalFaucet => {
  const call = async <A>(method: string, params: ReadonlyArray<unknown>, told: boolean) => {
    const body = { jsonrpc: "2.0", id: 1, method, params };
    if (told) narrator.request("POST", rpcUrl, body);
    const response = await fetchDirectly(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }).catch((cause: unknown) => {
      throw new ServiceUnreachable(`${method}: no answer from ${rpcUrl} (${String(cause)})`);
    });
    const answer = (await response.json()) as { result?: A; error?: { message: string } };
    if (answer.result === undefined)
      throw new DemoFailed(`${method}: ${answer.error?.message ?? "no result"}`);
    return answer.result;
  };
  // Waits for `confirmed`, at the end of the slot, because the service reads at that level.
  const give = async (method: string, params: ReadonlyArray<unknown>): Promise<void> => {
    const signature = await call<string>(method, params, true);
    await eventually(
      `${method} is confirmed`,
      CONFIRM_SECONDS,
      () => call<Statuses>("getSignatureStatuses", [[signature]], false),
      ({ value }) => ["confirmed", "finalized"].includes(value[0]?.confirmationStatus ?? ""),
    );
  };
  return {
    sol: (to, sol) => give("requestAirdrop", [to, sol * LAMPORTS_PER_SOL]),
    usdc: (to, stroops) => give("requestTokenAirdrop", [to, stroops]),
    latestBlockhash: async () =>
      (await call<{ value: { blockhash: string } }>("getLatestBlockhash", [], false)).value
        .blockhash,
  };
};
