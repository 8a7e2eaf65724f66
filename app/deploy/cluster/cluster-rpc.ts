import { redactedRpcAddress } from "../../../adapters/solana-rpc/transport/rpc-failure.ts";
import { type Address, parseAddress } from "../../../core/domain/address.ts";
import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { EX_UNAVAILABLE } from "../../command-line/command-line.ts";
import { DeployStopped } from "../deploy-stopped.ts";

/** A node refused a call. */
export class RpcRefused extends DeployStopped {
  readonly code: number;
  /** What the node says, without the address. */
  readonly reason: string;
  readonly data: unknown;

  constructor(shown: string, method: string, error: RpcErrorJson) {
    super(
      EX_UNAVAILABLE,
      `--rpc: ${shown} refuses ${method} (${error.code}: ${error.message}); use another node, then run the command again: it goes on where it stopped`,
    );
    this.code = error.code;
    this.reason = error.message;
    this.data = error.data;
  }
}

type RpcErrorJson = {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
};

/** How a transaction stands, as `getSignatureStatuses` tells it. */
export type SignatureStatus = {
  readonly confirmationStatus: "processed" | "confirmed" | "finalized" | null;
  readonly err: unknown;
};

type AccountJson = {
  readonly data: readonly [string, string];
  readonly executable: boolean;
  readonly lamports: number;
  readonly owner: string;
};

const TIMEOUT_MS = 30_000;
/** Attempts at a call, with pauses that double from 250 ms: about half a minute. */
const ATTEMPTS = 8;
const FIRST_PAUSE_MS = 250;
/**
 * Most accounts of one getMultipleAccounts (Agave `request.rs`: MAX_MULTIPLE_ACCOUNTS). Programs are large, so fewer.
 */
const MAX_ACCOUNTS = 10;

/** What came of one attempt: an answer, or why another attempt is worth while. */
type Attempt =
  | { readonly answer: unknown }
  | { readonly passing: string; readonly pauseMs?: number | undefined };

/** The pause that a 429 asks for, in milliseconds. */
const retryAfterMs = (response: Response): number | undefined => {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), 30) * 1000 : undefined;
};

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);

/**
 * A node of the cluster at `url`, asked at `confirmed`. Temporary failures and 429 are retried. Messages show the
 * address's host only, because the rest may be a key. Every method throws DeployStopped when the node gives no usable
 * answer, and RpcRefused when it refuses the call.
 */
export const clusterRpc = (url: URL) => {
  const shown = redactedRpcAddress(url);
  let hasAnswered = false;

  const notANode = (what: string): DeployStopped =>
    new DeployStopped(
      EX_UNAVAILABLE,
      `--rpc: ${shown} answers, but not as a Solana node (${what}); give the JSON-RPC address of one, such as https://api.devnet.solana.com`,
    );

  const attempt = async (body: string): Promise<Attempt> => {
    let response: Response;
    try {
      response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        // A redirect would send the request, and perhaps the key in the address, to another host.
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (cause) {
      return { passing: codeOf(cause) };
    }
    if (response.status === 429) return { passing: "HTTP 429", pauseMs: retryAfterMs(response) };
    if (response.status >= 500) return { passing: `HTTP ${response.status}` };
    try {
      const answer: unknown = await response.json();
      if (typeof answer === "object" && answer !== null && "jsonrpc" in answer) return { answer };
    } catch {
      // Not JSON. The next line reports it.
    }
    throw notANode(`HTTP ${response.status} without JSON-RPC`);
  };

  const call = async <A>(method: string, params: ReadonlyArray<unknown> = []): Promise<A> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    let last = "";
    // A node that has answered before is retried for longer. An address that never answered is probably a mistake.
    for (let tried = 0; tried < (hasAnswered ? ATTEMPTS : 2); tried++) {
      const result = await attempt(body);
      if ("answer" in result) {
        const { error, ...answer } = result.answer as {
          readonly result?: A;
          readonly error?: RpcErrorJson;
        };
        if (error !== undefined) throw new RpcRefused(shown, method, error);
        hasAnswered = true;
        return answer.result as A;
      }
      last = result.passing;
      await Bun.sleep(result.pauseMs ?? FIRST_PAUSE_MS * 2 ** tried);
    }
    throw new DeployStopped(
      EX_UNAVAILABLE,
      `--rpc: no node answers at ${shown} (${last}); check the address and the network, then run the command again: it goes on where it stopped`,
    );
  };

  const atConfirmed = { commitment: "confirmed", encoding: "base64" } as const;
  const accountOf = (address: Address, json: AccountJson | null): LedgerAccount | null => {
    if (json === null) return null;
    const owner = parseAddress(json.owner);
    const data = decodeBase64(json.data[0]);
    if (owner === undefined || data === undefined) throw notANode("an account it cannot encode");
    const { lamports, executable } = json;
    return { address, owner, data, executable, lamports: BigInt(lamports) };
  };

  return {
    /** The node's address without its path and query. */
    shown,
    /** Asks the node who it is and returns the ledger's genesis hash. */
    connect: async (): Promise<Address> => {
      try {
        const version = await call<Readonly<Record<string, unknown>> | null>("getVersion");
        const hash = await call<unknown>("getGenesisHash");
        if (version?.["solana-core"] === undefined)
          throw notANode("it tells no solana-core version");
        // A hash is 32 bytes in base58, like an address.
        const genesisHash = parseAddress(String(hash));
        if (genesisHash === undefined) throw notANode("it tells no genesis hash");
        return genesisHash;
      } catch (cause) {
        if (cause instanceof RpcRefused) throw notANode(`it refuses getVersion: ${cause.reason}`);
        throw cause;
      }
    },
    balance: async (of: Address): Promise<bigint> =>
      BigInt((await call<{ value: number }>("getBalance", [of, atConfirmed])).value),
    /** The accounts in the order of their addresses, null for each that does not exist. */
    accounts: async (
      addresses: ReadonlyArray<Address>,
    ): Promise<ReadonlyArray<LedgerAccount | null>> => {
      const accounts: Array<LedgerAccount | null> = [];
      for (let at = 0; at < addresses.length; at += MAX_ACCOUNTS) {
        const some = addresses.slice(at, at + MAX_ACCOUNTS);
        const { value } = await call<{ value: ReadonlyArray<AccountJson | null> }>(
          "getMultipleAccounts",
          [some, atConfirmed],
        );
        accounts.push(...some.map((each, i) => accountOf(each, value[i] ?? null)));
      }
      return accounts;
    },
    /** Lamports that an account with this number of data bytes must hold. */
    rentExempt: async (bytes: number): Promise<bigint> =>
      BigInt(await call<number>("getMinimumBalanceForRentExemption", [bytes])),
    latestBlockhash: async () =>
      (
        await call<{ value: { blockhash: string; lastValidBlockHeight: number } }>(
          "getLatestBlockhash",
          [{ commitment: "confirmed" }],
        )
      ).value,
    /** What transactions of the last blocks paid at least, in micro-lamports for each compute unit; empty if unknown. */
    recentPrices: async (): Promise<ReadonlyArray<bigint>> => {
      try {
        const fees = await call<unknown>("getRecentPrioritizationFees", [[]]);
        if (!Array.isArray(fees)) return [];
        return fees
          .map((each: { readonly prioritizationFee?: unknown } | null) => each?.prioritizationFee)
          .filter((fee): fee is number => Number.isSafeInteger(fee) && Number(fee) >= 0)
          .map(BigInt);
      } catch (cause) {
        // A node that does not tell prices proposes none.
        if (cause instanceof RpcRefused) return [];
        throw cause;
      }
    },
    blockHeight: () => call<number>("getBlockHeight", [{ commitment: "confirmed" }]),
    slot: () => call<number>("getSlot", [{ commitment: "confirmed" }]),
    /** Sends a signed transaction and returns its signature. */
    send: (wire: Uint8Array, skipPreflight: boolean): Promise<string> =>
      call<string>("sendTransaction", [
        Buffer.from(wire).toString("base64"),
        { encoding: "base64", skipPreflight, preflightCommitment: "confirmed", maxRetries: 0 },
      ]),
    statuses: async (
      signatures: ReadonlyArray<string>,
    ): Promise<ReadonlyArray<SignatureStatus | null>> =>
      (
        await call<{ value: ReadonlyArray<SignatureStatus | null> }>("getSignatureStatuses", [
          signatures,
        ])
      ).value,
    /** Asks the cluster's faucet for lamports and returns the transaction's signature. */
    airdrop: (to: Address, lamports: bigint): Promise<string> =>
      call<string>("requestAirdrop", [to, Number(lamports)]),
  };
};

/** See `clusterRpc`. */
export type ClusterRpc = ReturnType<typeof clusterRpc>;
