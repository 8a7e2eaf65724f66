import { Effect } from "effect";
import type { AtSlot, Commitment, LedgerFailure } from "../../../ports/ledger.ts";
import type { NodePool } from "./node-pool.ts";
import { isValueAtSlot } from "../transport/rpc-envelope.ts";
import type { RpcRefusal } from "../transport/rpc-failure.ts";
import type { Lane } from "./solana-rpc-config.ts";

/** A question whose answer says the slot it was read at. */
export type SlotQuestion<A> = {
  readonly method: string;
  readonly args: ReadonlyArray<unknown>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly commitment: Commitment;
  readonly lane: Lane;
  /** The `value` as it reads, undefined when it is not what the method answers. */
  readonly parse: (value: unknown) => A | undefined;
};

/**
 * Asks with `minContextSlot` at the highest slot seen so far, and takes no answer from a lower one, so that
 * nothing is answered from an older ledger than an earlier read has shown.
 */
export const askAtSlot = <A>(
  pool: NodePool["Service"],
  { method, args, options, commitment, lane, parse }: SlotQuestion<A>,
): Effect.Effect<AtSlot<A>, LedgerFailure | RpcRefusal> =>
  Effect.suspend(() => {
    const lowest = pool.slots.at(commitment);
    return pool.call({
      method,
      params: [
        ...args,
        { ...options, commitment, ...(lowest > 0 ? { minContextSlot: lowest } : {}) },
      ],
      lane,
      decode: (result) => {
        if (!isValueAtSlot(result)) return "malformed";
        const { slot } = result.context;
        const judgement = pool.slots.judge(commitment, slot);
        if (judgement !== "fine") return judgement;
        const value = parse(result.value);
        if (value === undefined) return "malformed";
        return { value: { slot: BigInt(slot), value } };
      },
    });
  });
