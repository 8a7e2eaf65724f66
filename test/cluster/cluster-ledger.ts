import { type Address, parseAddress } from "../../core/domain/address.ts";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import type { IndexedEscrow } from "../../core/domain/index/indexed-escrow.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { indexedEscrowOf, projectAt } from "../../core/log/leaf/escrow-rows.ts";
import { decodeCustodyConfigAccount } from "../../core/protocol/accounts/settings-accounts.ts";
import {
  decodeEscrowAccount,
  ESCROW_ACCOUNT_LENGTH,
} from "../../core/protocol/accounts/escrow-account.ts";
import { custodyConfigAddress } from "../../core/protocol/addresses/addresses.ts";

const POLL_MS = 200;
/** Finalization takes 13 s, 34 s on a slow cluster. */
const FINAL_WITHIN_MS = 180_000;
const FINALIZED = { commitment: "finalized", encoding: "base64" } as const;

type Account = { readonly data: readonly [string, string]; readonly owner: string };

const addressOf = (text: string): Address => {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`the node tells no address: ${text}`);
  return address;
};

const bytesOf = ({ data }: Account): Uint8Array => {
  const bytes = decodeBase64(data[0]);
  if (bytes === undefined) throw new Error("the node tells no base64");
  return bytes;
};

/**
 * What a node shows of a deployment at `finalized`, read without anything that the tests try. It is the truth that an
 * index behind a hostile node is held to.
 */
export const clusterLedger = (url: string, deployment: Deployment) => {
  const ask = async <A>(method: string, params: ReadonlyArray<unknown>): Promise<A> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body });
    const answer = (await response.json()) as { readonly result?: A; readonly error?: unknown };
    if (answer.result === undefined)
      throw new Error(`the node refuses ${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  };
  const config = custodyConfigAddress(deployment).address;

  /** The number of the latest finalized event. */
  const count = async (): Promise<bigint> => {
    const { value } = await ask<{ readonly value: Account | null }>("getAccountInfo", [
      config,
      FINALIZED,
    ]);
    if (value === null) return 0n;
    const account = { address: config, owner: addressOf(value.owner), data: bytesOf(value) };
    const decoded = decodeCustodyConfigAccount(account, deployment);
    if ("fault" in decoded) throw new Error(`custody's configuration is faulty: ${decoded.fault}`);
    return decoded.value.count;
  };

  return {
    count,
    /** The latest finalized slot. */
    slot: () => ask<number>("getSlot", [{ commitment: "finalized" }]),
    /** Returns once as many events are final. @throws Error when that takes three minutes. */
    finalized: async (events: bigint): Promise<void> => {
      const deadline = performance.now() + FINAL_WITHIN_MS;
      while ((await count()) < events) {
        if (performance.now() > deadline) throw new Error(`event ${events} does not become final`);
        await Bun.sleep(POLL_MS);
      }
    },
    /** Every escrow as it was after the event numbered `at`, by address. */
    escrowsAt: async (at: bigint): Promise<ReadonlyMap<string, Escrow>> => {
      const filters = [{ dataSize: ESCROW_ACCOUNT_LENGTH }];
      const found = await ask<
        ReadonlyArray<{ readonly pubkey: string; readonly account: Account }>
      >("getProgramAccounts", [deployment.custodyProgram, { ...FINALIZED, filters }]);
      const rows = found.flatMap(({ pubkey, account }): ReadonlyArray<IndexedEscrow> => {
        const data = bytesOf(account);
        const own = { address: addressOf(pubkey), owner: addressOf(account.owner), data };
        const decoded = decodeEscrowAccount(own, deployment);
        return "fault" in decoded ? [] : [indexedEscrowOf(decoded.value, data)];
      });
      return new Map(
        rows.flatMap((row) => {
          const then = projectAt(row, at);
          return then === null ? [] : [[then.escrow.address, then.escrow] as const];
        }),
      );
    },
  };
};

/** See `clusterLedger`. */
export type ClusterLedger = ReturnType<typeof clusterLedger>;
