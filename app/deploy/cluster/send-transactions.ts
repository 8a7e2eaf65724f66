import { signedTransaction } from "../../../adapters/local-ledger/genesis/signed-transaction.ts";
import { encodeBase58 } from "../../../core/domain/encoding/base58.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { type ClusterRpc, RpcRefused } from "./cluster-rpc.ts";
import { priorityInstructions } from "./priority-fee.ts";
import type { DeployKey } from "../inputs/deploy-key.ts";

/** A transaction to send; the payer signs it too. */
export type Unsent = {
  readonly instructions: ReadonlyArray<Instruction>;
  readonly signers?: ReadonlyArray<DeployKey>;
};

/** How transactions are sent. */
export type SendOptions = {
  readonly skipPreflight: boolean;
  /** What each offers, in micro-lamports for each of its compute units; 0 offers nothing and sets no limit. */
  readonly price: bigint;
  /** The compute units of each where it offers a price. */
  readonly units: number;
};

/** How a transaction ended. `expired` is one that can no longer land. */
export type Ending =
  | { readonly kind: "landed" }
  | { readonly kind: "expired" }
  | { readonly kind: "failed"; readonly error: unknown; readonly logs: ReadonlyArray<string> };

/** Sends in flight at once. Public nodes take 40 calls of a method in 10 seconds; a 429 makes the client wait. */
const PARALLEL = 8;
const POLL_MS = 200;
/** Polls between two resends of what has not landed: about two seconds. */
const POLLS_A_RESEND = 10;
/** Most signatures of one getSignatureStatuses (Agave `request.rs`). */
const MAX_STATUSES = 256;
/**
 * Preflight refused the transaction (Agave `custom_error.rs`:
 * JSON_RPC_SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE).
 */
const PREFLIGHT_FAILURE = -32_002;

type Signed = {
  readonly wire: Uint8Array;
  readonly signature: string;
  ending: Ending | undefined;
};

const inParallel = async <A>(
  items: ReadonlyArray<A>,
  work: (item: A) => Promise<void>,
): Promise<void> => {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, items.length) }, worker));
};

/** Sends one; a refusal that only a lagging node gives leaves it unsettled. */
const sendOne = async (rpc: ClusterRpc, item: Signed, skipPreflight: boolean): Promise<void> => {
  try {
    await rpc.send(item.wire, skipPreflight);
  } catch (cause) {
    if (!(cause instanceof RpcRefused)) throw cause;
    const data = cause.data as { err?: unknown; logs?: ReadonlyArray<string> | null } | undefined;
    const error = data?.err ?? cause.reason;
    if (error === "AlreadyProcessed" || error === "BlockhashNotFound") return;
    // A transaction without preflight is judged by its status alone.
    if (cause.code === PREFLIGHT_FAILURE || !skipPreflight)
      item.ending = { kind: "failed", error, logs: data?.logs ?? [] };
  }
};

const readStatuses = async (rpc: ClusterRpc, open: ReadonlyArray<Signed>): Promise<void> => {
  for (let at = 0; at < open.length; at += MAX_STATUSES) {
    const some = open.slice(at, at + MAX_STATUSES);
    const statuses = await rpc.statuses(some.map(({ signature }) => signature));
    some.forEach((item, i) => {
      const status = statuses[i];
      if (status === null || status === undefined) return;
      if (status.confirmationStatus !== "confirmed" && status.confirmationStatus !== "finalized")
        return;
      item.ending =
        status.err === null ? { kind: "landed" } : { kind: "failed", error: status.err, logs: [] };
    });
  }
};

/**
 * Signs transactions under one blockhash, sends them in parallel, sends what has not landed anew every two seconds, and
 * returns how each ended once all are confirmed, have failed or can no longer land. @throws DeployStopped when the node
 * gives no answer.
 */
export const sendTransactions = async (
  rpc: ClusterRpc,
  payer: DeployKey,
  unsent: ReadonlyArray<Unsent>,
  options: SendOptions,
): Promise<ReadonlyArray<Ending>> => {
  if (unsent.length === 0) return [];
  const { blockhash, lastValidBlockHeight } = await rpc.latestBlockhash();
  const offer = priorityInstructions(options.price, options.units);
  const all = unsent.map(({ instructions: own, signers = [] }): Signed => {
    const instructions = [...offer, ...own];
    const wire = signedTransaction({ payer, signers, instructions, blockhash });
    // The first signature stands behind the count of signatures, one byte.
    return { wire, signature: encodeBase58(wire.subarray(1, 65)), ending: undefined };
  });
  const open = () => all.filter(({ ending }) => ending === undefined);
  for (let polls = 0; open().length > 0; polls++) {
    if (polls % POLLS_A_RESEND === 0) {
      // The height is read before the statuses: what is not found above it cannot land any more.
      const height = await rpc.blockHeight();
      await readStatuses(rpc, open());
      if (height > lastValidBlockHeight) break;
      await inParallel(open(), (item) => sendOne(rpc, item, options.skipPreflight));
    }
    if (open().length === 0) break;
    await Bun.sleep(POLL_MS);
    await readStatuses(rpc, open());
  }
  return all.map(({ ending }) => ending ?? { kind: "expired" });
};
