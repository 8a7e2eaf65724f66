import type { SettlementChain } from "../world/settlement-chain.ts";
import type { ChainTransaction } from "../world/chain.ts";
import { answersOf } from "../world/node-faults.ts";
import { ChainNode, errorJson } from "../world/chain-node.ts";
import type { Backend } from "./scenario.ts";
import { type RpcAnswer, parseExactly } from "../world/rpc-answer.ts";

/** The value of a finalized logsNotification about a transaction (Agave `rpc-client-types`, `RpcLogsResponse`). */
export const logsValue = ({
  signature,
  slot,
  error,
}: Pick<ChainTransaction, "signature" | "slot" | "error">): unknown => ({
  context: { slot: Number(slot) },
  value: { signature, err: errorJson(error), logs: [] },
});

/** A simulated ledger as a healthy node. It knows every slot since this call, and does not lag further. */
export const worldBackend = (world: SettlementChain): Backend => {
  const node = new ChainNode(world);
  const since = world.slot;
  return {
    answer: async (call, lagSlots = 0) =>
      node.answer(call, world.slot - BigInt(lagSlots) < since ? 0 : lagSlots),
    subscribe: async ({ method, params }, listener) => {
      if (method === "slotSubscribe") {
        // After the answer to the subscription. One slot is what a listener waits for.
        const slot = Number(world.slot);
        const told = setImmediate(() => listener({ slot, parent: slot - 1, root: slot }));
        return () => clearImmediate(told);
      }
      const [{ mentions }] = params as [{ readonly mentions: ReadonlyArray<string> }];
      const hear = (landed: ChainTransaction): void => {
        if (landed.accounts.some((address) => mentions.includes(address)))
          listener(logsValue(landed));
      };
      world.listeners.add(hear);
      return () => void world.listeners.delete(hear);
    },
  };
};

/** How many answers of one question are kept, the newest ones. */
const RECALLED = 64;

const slotOf = (result: unknown): number | null => {
  const { context, absoluteSlot } = (result ?? {}) as {
    readonly context?: { readonly slot: number };
    readonly absoluteSlot?: number;
  };
  return context?.slot ?? absoluteSlot ?? null;
};

/**
 * A real node at an address, such as the embedded ledger's. It cannot go back in time: a backend that lags gives the
 * newest answer to the same question that is old enough, and without one the oldest. Like a node that lags, it answers
 * every question that names no slot, and says that it has not reached the slot which a question names.
 */
export const remoteBackend = (url: string, webSocketUrl: string): Backend => {
  const known = new Map<string, Array<{ readonly slot: number; readonly answer: RpcAnswer }>>();
  let newest = 0;
  const ask = answersOf(url);
  return {
    answer: async (call, lagSlots = 0) => {
      const answer = await ask(call);
      const slot = "result" in answer ? slotOf(answer.result) : null;
      if (slot === null) return answer;
      newest = Math.max(newest, slot);
      const options = call.params.find((one) => typeof one === "object" && !Array.isArray(one));
      const { minContextSlot = 0, ...others } = (options ?? {}) as {
        readonly minContextSlot?: number;
      };
      const plain = call.params.filter((one) => one !== options);
      const question = JSON.stringify([call.method, plain, others]);
      const answers = known.get(question) ?? [];
      answers.push({ slot, answer });
      known.set(question, answers.slice(-RECALLED));
      if (lagSlots === 0) return answer;
      const old = answers.findLast((one) => one.slot <= newest - lagSlots) ?? answers[0];
      if (old === undefined || old.slot < minContextSlot)
        return { error: { code: -32_016, message: "Minimum context slot has not been reached" } };
      return old.answer;
    },
    subscribe: async (request, listener) => {
      const socket = new WebSocket(webSocketUrl);
      await new Promise((opened) => socket.addEventListener("open", opened));
      socket.addEventListener("message", ({ data }) => {
        const heard = parseExactly(String(data)) as {
          readonly params?: { readonly result: unknown };
        };
        if (heard.params !== undefined) listener(heard.params.result);
      });
      socket.send(JSON.stringify({ jsonrpc: "2.0", ...request }));
      return () => socket.close();
    },
  };
};
