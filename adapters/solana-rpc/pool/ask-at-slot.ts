import { Effect } from "effect";
import type { AtSlot, Commitment, LedgerFailure } from "../../../ports/ledger/ledger.ts";
import type { NodePool } from "./node-pool.ts";
import { isValueAtSlot } from "../transport/rpc-envelope.ts";
import type { RpcRefusal } from "../transport/rpc-failure.ts";

/** A request whose answer names the slot it was read at. */
export type SlotQuestion<A> = {
  readonly method: string;
  readonly args: ReadonlyArray<unknown>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly commitment: Commitment;
  /** The accounts that the answer is about. */
  readonly accounts: ReadonlyArray<string>;
  /** The lowest slot that the caller needs; without it, what is known of the accounts decides. */
  readonly notBefore?: bigint | undefined;
  /** The decoded `value`, undefined when the method cannot answer such a value. */
  readonly parse: (value: unknown) => A | undefined;
  /** Whether a value says that something is missing, or refuses. */
  readonly isAbsence: (value: A) => boolean;
  /** Whether the slot may not be confirmed yet, so that later reads cannot ask for it. */
  readonly isAhead?: boolean;
};

/**
 * The value of a request and its slot. Reads never go back in time: what is there may be shown by an answer that is up
 * to 32 slots old and not below the accounts' floors. What is missing is believed only at the highest slot seen when
 * the question was put. An answer below that counts as "behind".
 */
export const askAtSlot = <A>(
  nodes: NodePool["Service"],
  question: SlotQuestion<A>,
): Effect.Effect<AtSlot<A>, LedgerFailure | RpcRefusal> =>
  Effect.suspend(() => {
    const { method, args, options, commitment, accounts, notBefore, parse, isAbsence } = question;
    const { slots } = nodes;
    const { present, absent } = slots.boundsOf(commitment, accounts, notBefore);
    return nodes.call({
      method,
      params: [
        ...args,
        { ...options, commitment, ...(present > 0 ? { minContextSlot: present } : {}) },
      ],
      decode: (result) => {
        if (!isValueAtSlot(result)) return "malformed";
        const { slot } = result.context;
        const judgement = slots.judge(present, slot);
        if (judgement !== "fine") return judgement;
        const value = parse(result.value);
        if (value === undefined) return "malformed";
        if (question.isAhead !== true) slots.saw(commitment, slot);
        if (slot < absent && isAbsence(value)) return "behind";
        if (question.isAhead !== true) slots.floors.saw(commitment, accounts, slot);
        return { value: { slot: BigInt(slot), value } };
      },
    });
  });
