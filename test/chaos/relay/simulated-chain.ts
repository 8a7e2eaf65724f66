import type { TransactionError } from "../../../core/domain/relay/relay-entry.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** Slots until a block is confirmed and finalized, and blocks for which a blockhash is valid. */
export const CONFIRMED_AFTER = 3;
export const FINALIZED_AFTER = 32;
const BLOCKHASH_AGE = 150;
/** Slots for which a leader keeps a transaction that it has not included. */
const LEADER_PATIENCE = 20;

/** A transaction on the chain. */
export type ChainTransaction = {
  readonly signature: string;
  readonly blockhash: string;
  /** Its error when it runs, null for success. */
  readonly error: TransactionError | null;
  /** The escrow it creates. Of the transactions that create the same one, the ledger lets one succeed. */
  readonly escrow: string;
};

const TAKEN: TransactionError = {
  kind: "InstructionError",
  instructionIndex: 0,
  instructionError: "Custom",
  customCode: 0,
};

type Block = { readonly slot: number; readonly height: number; readonly held: ReadonlySet<string> };
type Waiting = {
  readonly transaction: ChainTransaction;
  readonly from: number;
  readonly to: number;
};

/** How unreliable the chain is. */
export type Weather = {
  readonly skippedSlots: number;
  readonly inclusion: number;
  /** Probability per slot that the newest unconfirmed blocks are dropped. */
  readonly forks: number;
  /** The same for blocks that are confirmed but not finalized. */
  readonly deepForks: number;
};

/** Blocks, leaders, forks and blockhashes of one ledger, advanced slot by slot. */
export const simulatedChain = (random: SeededRandom, weather: () => Weather) => {
  let blocks: Array<Block> = [];
  let waiting: Array<Waiting> = [];
  const errors = new Map<string, TransactionError | null>();
  const known = new Map<string, ChainTransaction>();
  const heightOfBlockhash = new Map<string, number>();
  let slot = 0;

  const heightAt = (asOf: number): number =>
    blocks.findLast((block) => block.slot <= asOf)?.height ?? 0;
  const blockOf = (signature: string, asOf: number): Block | undefined =>
    blocks.find((block) => block.slot <= asOf && block.held.has(signature));
  const isUsable = (blockhash: string, height: number): boolean => {
    const made = heightOfBlockhash.get(blockhash);
    return made !== undefined && made < height && height - made <= BLOCKHASH_AGE;
  };

  /** Whether another transaction has made the escrow in a block, or in the one that holds `inBlock`. */
  const isTaken = (
    { signature, escrow }: ChainTransaction,
    inBlock: ReadonlySet<string>,
  ): boolean =>
    [...blocks.map(({ held }) => held), inBlock].some((held) =>
      [...held].some(
        (other) =>
          other !== signature &&
          known.get(other)?.escrow === escrow &&
          (errors.get(other) ?? null) === null,
      ),
    );

  const drop = (count: number): void => {
    if (count === 0) return;
    const dropped = blocks.slice(-count);
    blocks = blocks.slice(0, -count);
    for (const { held } of dropped)
      for (const signature of held) {
        const kept = known.get(signature);
        if (kept !== undefined && random.chance(0.5))
          waiting.push({ transaction: kept, from: slot + 1, to: slot + LEADER_PATIENCE });
      }
    // The blockhash of a dropped block is never valid again.
    for (const [blockhash, height] of heightOfBlockhash)
      if (height > heightAt(slot)) heightOfBlockhash.delete(blockhash);
  };

  const produce = (): void => {
    slot += 1;
    const { skippedSlots, inclusion, forks, deepForks } = weather();
    const finalized = slot - FINALIZED_AFTER;
    const droppable = blocks.filter((block) => block.slot > finalized).length;
    if (random.chance(deepForks)) drop(Math.min(droppable, random.between(4, 20)));
    else if (random.chance(forks)) drop(Math.min(droppable, random.between(1, 2)));
    if (random.chance(skippedSlots)) return;
    const height = heightAt(slot) + 1;
    const held = new Set<string>();
    for (const { transaction, from, to } of waiting) {
      if (slot < from || slot > to || !random.chance(inclusion)) continue;
      const { signature, blockhash, error } = transaction;
      if (blockOf(signature, slot) !== undefined || held.has(signature)) continue;
      if (!isUsable(blockhash, height)) continue;
      held.add(signature);
      // On another fork the same transaction can have another result.
      const own = random.chance(0.7) ? error : null;
      errors.set(signature, isTaken(transaction, held) ? TAKEN : own);
    }
    waiting = waiting.filter(({ to }) => to > slot);
    blocks.push({ slot, height, held });
  };

  return {
    slot: (): number => slot,
    advanceTo: (target: number): void => {
      for (let left = target - slot; left > 0; left--) produce();
    },
    /** Hands a transaction to the leaders, `delay` slots from now. */
    arrive: (transaction: ChainTransaction, delay: number): void => {
      known.set(transaction.signature, transaction);
      const from = slot + 1 + delay;
      waiting.push({ transaction, from, to: from + LEADER_PATIENCE });
    },
    heightAt,
    isUsable,
    /** Makes a blockhash that of a block `age` blocks before the newest. */
    setBlockhash: (blockhash: string, age: number): void =>
      void heightOfBlockhash.set(blockhash, heightAt(slot) - age),
    /** Where a transaction is, as seen by a node at slot `asOf` whose history begins at `from`. */
    landed: (signature: string, asOf: number, from = 0) => {
      const block = blockOf(signature, asOf);
      if (block === undefined || block.slot < from) return null;
      const depth = asOf - block.slot;
      const commitment =
        depth >= FINALIZED_AFTER
          ? ("finalized" as const)
          : depth >= CONFIRMED_AFTER
            ? ("confirmed" as const)
            : ("processed" as const);
      return { slot: BigInt(block.slot), commitment, error: errors.get(signature) ?? null };
    },
  };
};

export type SimulatedChain = ReturnType<typeof simulatedChain>;
