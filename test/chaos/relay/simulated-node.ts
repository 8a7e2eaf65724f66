import { Clock, Duration, Effect, Layer } from "effect";
import type { Address } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import type { TransactionError } from "../../../core/domain/relay/relay-entry.ts";
import { decodeWireTransaction } from "../../../core/protocol/transaction/wire-transaction.ts";
import { Broadcaster, SubmissionRefused } from "../../../ports/ledger/broadcaster.ts";
import { Ledger, LedgerTimeout, LedgerUnavailable } from "../../../ports/ledger/ledger.ts";
import { TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { broadcasterPort } from "../../world/broadcaster-port.ts";
import { type Answer, ledgerPort } from "../../world/ledger-port.ts";
import {
  ledgerSignatureFromBytes,
  parseLedgerSignature,
} from "../../../core/domain/ledger/signature.ts";
import type { Attempt } from "./prepared-jobs.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { CONFIRMED_AFTER, FINALIZED_AFTER, type SimulatedChain } from "./simulated-chain.ts";
import { inBlock } from "../../world/scripted-chain.ts";

const SLOT_MS = 400;
const FUNDING = ledgerSignatureFromBytes(new Uint8Array(64).fill(250));

/** The faults of a run's nodes during its rough phase. */
export type NodeManners = {
  readonly unavailable: number;
  readonly hangs: number;
  readonly mostLagSlots: number;
  /** Probability that a transaction is lost, arrives twice, or gets a refusal or no answer. */
  readonly losses: number;
  readonly duplicates: number;
  readonly lostAnswers: number;
  readonly mostDelaySlots: number;
  /** Statuses show only transactions of this number of slots, whatever is asked. */
  readonly statusSlots: number;
  /** Whether the nodes offer getFirstAvailableBlock. */
  readonly saysHistoryStart: boolean;
  /** Lists of an address begin this number of slots ago, whatever the nodes say about their history. */
  readonly listSlots: number;
};

export const CALM: NodeManners = {
  unavailable: 0,
  hangs: 0,
  mostLagSlots: 1,
  losses: 0,
  duplicates: 0,
  lostAnswers: 0,
  mostDelaySlots: 0,
  statusSlots: Infinity,
  saysHistoryStart: true,
  listSlots: Infinity,
};

/**
 * The ports over a simulated chain. Like the real adapter, they never show an older ledger than before. Everything else
 * about them is unreliable.
 */
export const simulatedNode = (options: {
  readonly random: SeededRandom;
  readonly chain: SimulatedChain;
  readonly manners: () => NodeManners;
  /** The error of each transaction on the chain, by signature. */
  readonly errorOf: (signature: string) => TransactionError | null;
  /** The accounts at a slot. */
  readonly accountAt: (address: Address, slot: number) => LedgerAccount | null;
  /** The transactions that name an address. */
  readonly naming: (address: Address) => ReadonlyArray<Attempt>;
  readonly attemptOf: (signature: string) => Attempt | undefined;
  /** The first slot in the nodes' history. */
  readonly historyStart: () => number;
}) => {
  const { random, chain, manners } = options;
  const seen = { confirmed: 0, finalized: 0 };

  const view = (atLeast: number): number =>
    Math.max(atLeast, chain.slot() - random.between(0, manners().mostLagSlots));

  /** An answer at the present state of the chain, or none. */
  const answer: Answer = (value) =>
    Effect.gen(function* () {
      chain.advanceTo(Math.floor((yield* Clock.currentTimeMillis) / SLOT_MS));
      const { unavailable, hangs } = manners();
      if (random.chance(hangs)) {
        yield* Effect.sleep(Duration.seconds(5));
        return yield* new LedgerTimeout({ timeoutMs: 5000 });
      }
      if (random.chance(unavailable))
        return yield* new LedgerUnavailable({ retryable: true, cause: "simulated" });
      if (random.chance(0.3)) yield* Effect.sleep(Duration.millis(random.between(1, 900)));
      chain.advanceTo(Math.floor((yield* Clock.currentTimeMillis) / SLOT_MS));
      return value();
    });

  const tip = (commitment: "confirmed" | "finalized") =>
    answer(() => {
      const depth = commitment === "confirmed" ? CONFIRMED_AFTER : FINALIZED_AFTER;
      const slot = Math.max(0, view(seen[commitment] + depth) - depth);
      seen[commitment] = Math.max(seen[commitment], slot);
      seen.confirmed = Math.max(seen.confirmed, slot);
      return { slot: BigInt(slot), blockHeight: BigInt(chain.heightAt(slot)) };
    });
  const confirmedSlot = (): number => {
    const slot = Math.max(0, view(seen.confirmed + CONFIRMED_AFTER) - CONFIRMED_AFTER);
    seen.confirmed = Math.max(seen.confirmed, slot);
    return slot;
  };

  /** A finalized slot of whichever backend answers. */
  const finalizedSlot = (): number => Math.max(0, view(0) - FINALIZED_AFTER);

  const ledger = ledgerPort({
    answer,
    genesisHash: TEST_GENESIS_HASH,
    slot: (commitment) => BigInt(commitment === "finalized" ? finalizedSlot() : confirmedSlot()),
    accountAt: (slot) => (address) => options.accountAt(address, Number(slot)),
    history: (address, before) => {
      const asOf = finalizedSlot();
      const from = Math.max(options.historyStart(), chain.slot() - manners().listSlots);
      const entries = options
        .naming(address)
        .flatMap(({ signature }) => {
          const landed = chain.landed(signature, asOf, from);
          const parsed = parseLedgerSignature(signature);
          return landed === null || parsed === undefined
            ? []
            : [
                {
                  signature: parsed,
                  slot: landed.slot,
                  failed: landed.error !== null,
                  error: landed.error,
                },
              ];
        })
        .toSorted((a, b) => Number(b.slot - a.slot));
      // Every fee payer was funded before the first slot.
      const funded =
        from > 0 || options.accountAt(address, 0) === null
          ? []
          : [{ signature: FUNDING, slot: 0n, failed: false }];
      return {
        entries: before === null ? [...entries, ...funded] : [],
        keptFrom: null,
      };
    },
    transaction: (signature) => {
      const attempt = options.attemptOf(signature);
      const landed = chain.landed(signature, finalizedSlot(), options.historyStart());
      const decoded = attempt && decodeWireTransaction(attempt.bytes);
      if (landed === null || decoded === undefined || "malformed" in decoded) return null;
      return inBlock(decoded.value, landed.slot, landed.error);
    },
  });

  const partsOf = (bytes: Uint8Array) => {
    const decoded = decodeWireTransaction(bytes);
    if ("malformed" in decoded) throw new Error(decoded.malformed);
    const { signature, blockhash } = decoded.value;
    const escrow = options.attemptOf(signature)?.escrow.address ?? "";
    return { signature, blockhash, escrow, error: options.errorOf(signature) };
  };
  const isUsable = (blockhash: string, slot: number) =>
    chain.isUsable(blockhash, chain.heightAt(slot) + 1);
  const failure = (kind: string): TransactionError => ({
    kind,
    instructionIndex: null,
    instructionError: null,
    customCode: null,
  });

  const broadcaster = broadcasterPort({
    answer,
    isBlockhashValid: (blockhash) => isUsable(blockhash, confirmedSlot()),
    simulate: (bytes) => {
      const slot = confirmedSlot();
      const { signature, blockhash, error } = partsOf(bytes);
      const refused =
        chain.landed(signature, slot) !== null
          ? failure("AlreadyProcessed")
          : isUsable(blockhash, slot)
            ? null
            : failure("BlockhashNotFound");
      // A simulation may not foresee the transaction's error.
      const foreseen = random.chance(0.5) ? error : null;
      return { slot: BigInt(slot), error: refused ?? foreseen, logs: [] };
    },
    submit: () => undefined,
    landed: () => {
      const slot = view(seen.confirmed);
      const from = Math.max(options.historyStart(), chain.slot() - manners().statusSlots);
      return (signature) => chain.landed(signature, slot, from);
    },
    historyStart: () => (manners().saysHistoryStart ? BigInt(options.historyStart()) : null),
    logs: () => [],
  });
  const submit = (bytes: Uint8Array): ReturnType<typeof broadcaster.submit> =>
    Effect.gen(function* () {
      yield* broadcaster.submit(bytes);
      const transaction = partsOf(bytes);
      const { losses, duplicates, lostAnswers, mostDelaySlots } = manners();
      if (!random.chance(losses)) chain.arrive(transaction, random.between(0, mostDelaySlots));
      if (random.chance(duplicates)) chain.arrive(transaction, random.between(0, 200));
      if (!random.chance(lostAnswers)) return;
      if (random.chance(0.3))
        return yield* new SubmissionRefused({ error: failure("BlockhashNotFound"), logs: [] });
      if (random.chance(0.5)) yield* Effect.sleep(Duration.seconds(8));
      return yield* new LedgerTimeout({ timeoutMs: 8000 });
    });
  return Layer.merge(
    Layer.succeed(Ledger, { ...ledger, tip }),
    Layer.succeed(Broadcaster, { ...broadcaster, submit }),
  );
};
