import { Effect } from "effect";
import type { AtSlot, Commitment, LedgerFailure } from "../../../ports/ledger.ts";
import type { NodePool } from "./node-pool.ts";
import { isValueAtSlot } from "../transport/rpc-envelope.ts";
import type { RpcRefusal } from "../transport/rpc-failure.ts";
import type { Pool } from "./solana-rpc-config.ts";

/** A request whose answer names the slot it was read at. */
export type SlotQuestion<A> = {
  readonly method: string;
  readonly args: ReadonlyArray<unknown>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly commitment: Commitment;
  readonly pool: Pool;
  /** The decoded `value`, undefined when the method cannot answer such a value. */
  readonly parse: (value: unknown) => A | undefined;
};

/**
 * The value of a request and its slot. Reads never go back in time: the request sets `minContextSlot` to the highest
 * slot seen so far, and an answer from a lower slot is refused.
 */
export const askAtSlot = <A>(
  nodes: NodePool["Service"],
  { method, args, options, commitment, pool, parse }: SlotQuestion<A>,
): Effect.Effect<AtSlot<A>, LedgerFailure | RpcRefusal> =>
  Effect.suspend(() => {
    const lowest = nodes.slots.at(commitment);
    return nodes.call({
      method,
      params: [
        ...args,
        { ...options, commitment, ...(lowest > 0 ? { minContextSlot: lowest } : {}) },
      ],
      pool,
      decode: (result) => {
        if (!isValueAtSlot(result)) return "malformed";
        const { slot } = result.context;
        const judgement = nodes.slots.judge(commitment, slot);
        if (judgement !== "fine") return judgement;
        const value = parse(result.value);
        if (value === undefined) return "malformed";
        return { value: { slot: BigInt(slot), value } };
      },
    });
  });
