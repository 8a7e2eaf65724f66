import { Effect, Layer } from "effect";
import { outcomeLogMemory } from "../../../../adapters/memory/outcome-log.ts";
import { rateLimiterMemory } from "../../../../adapters/memory/rate-limiter.ts";
import { type Address, addressToBytes } from "../../../../core/domain/address.ts";
import {
  type LedgerSignature,
  ledgerSignatureFromBytes,
} from "../../../../core/domain/ledger/signature.ts";
import type { HistoryEntry, LedgerTransaction } from "../../../../core/domain/ledger/history.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import type {
  LandedTransaction,
  TransactionError,
} from "../../../../core/domain/relay/relay-entry.ts";
import { fieldWriter } from "../../../../core/protocol/accounts/byte-fields.ts";
import {
  ADDRESS_LOOKUP_TABLE_PROGRAM,
  CLOCK_SYSVAR,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { decodeWireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import {
  makeRelayDelivery,
  RelayDelivery,
} from "../../../../core/use-cases/relay/relay-delivery.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { Broadcaster } from "../../../../ports/ledger/broadcaster.ts";
import { Instance } from "../../../../ports/instance.ts";
import { type Commitment, Ledger, type LedgerFailure } from "../../../../ports/ledger/ledger.ts";
import type { OutcomeLog } from "../../../../ports/outcome-log.ts";
import { walletAccount } from "../../../doubles/accounts.ts";
import { broadcasterPort } from "../../../world/broadcaster-port.ts";
import { indexWithoutRows } from "../../../doubles/index-without-rows.ts";
import { ledgerPort } from "../../../world/ledger-port.ts";
import { genesisHash } from "../../../programs/fixture/settlement.ts";
import type { TestLedger } from "../../../programs/fixture/test-ledger.ts";
import { testInstance } from "../test-instance.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

/** What a test sets on the ledger, and what it has recorded. */
export type ScriptedLedger = {
  readonly landed: Map<string, LandedTransaction>;
  /** Signatures in the order they were sent. */
  readonly sent: Array<string>;
  /** Runs when a node accepts a sending. */
  onSend: (signature: LedgerSignature) => void;
  /** The invalid blockhashes; all others are valid. */
  readonly staleBlockhashes: Set<string>;
  simulationError: TransactionError | null;
  simulationLogs: ReadonlyArray<string>;
  /** How simulations fail; null when they are answered. */
  simulationFault: LedgerFailure | "hangs" | null;
  simulations: number;
  /** The finalized height. The confirmed one is `heightAhead` above it. */
  blockHeight: bigint;
  heightAhead: bigint;
  /** What a lying node adds to the finalized height, and not to its slot. */
  falseHeight: bigint;
  /** Null: the node does not say. */
  historyStart: bigint | null;
  /** The first slot of which the node says to keep lists. Null: it does not say. */
  keptFrom: bigint | null;
  /** What the node lists of any address, newest first; by default one transaction from before every relay. */
  listed: ReadonlyArray<HistoryEntry>;
  /** What it lists of single addresses instead. */
  readonly listedOf: Map<Address, ReadonlyArray<HistoryEntry>>;
  /** The landed transactions that the node still has. */
  readonly transactions: Map<string, LedgerTransaction>;
  lamports: bigint;
  /** Accounts that differ from the default, a wallet with many lamports. */
  readonly accounts: Map<Address, LedgerAccount>;
};

/** A transaction of an address from before any blockhash of a test existed. */
export const EARLIER: HistoryEntry = {
  signature: ledgerSignatureFromBytes(new Uint8Array(64).fill(251)),
  slot: 1690n,
  failed: false,
};

/** The account data of an address lookup table (Agave `address-lookup-table/state.rs`). */
export const tableData = (addresses: ReadonlyArray<Address>): Uint8Array =>
  Uint8Array.from([
    ...fieldWriter(56)
      .u32(1)
      .u64(2n ** 64n - 1n)
      .skip(44)
      .done(),
    ...addresses.flatMap((each) => [...addressToBytes(each)]),
  ]);

/** The relay's ports over a ledger that a test scripts, beside an index. Accounts come from `accounts`. */
export const scriptedPorts = (accounts?: TestLedger, limit = 1000, index = indexWithoutRows()) => {
  const script: ScriptedLedger = {
    landed: new Map(),
    sent: [],
    onSend: () => undefined,
    staleBlockhashes: new Set(),
    simulationError: null,
    simulationLogs: ["a log line"],
    simulationFault: null,
    simulations: 0,
    blockHeight: 1000n,
    heightAhead: 0n,
    falseHeight: 0n,
    historyStart: 0n,
    keptFrom: null,
    listed: [EARLIER],
    listedOf: new Map(),
    transactions: new Map(),
    lamports: 1_000_000n,
    accounts: new Map(),
  };
  const read = (address: Address): LedgerAccount | null => {
    const set = script.accounts.get(address);
    if (set !== undefined) return set;
    if (accounts === undefined)
      return address === CLOCK_SYSVAR ? null : walletAccount(address, script.lamports);
    const account = accounts.account(address);
    return account.lamports === 0n && account.data.length === 0 ? null : account;
  };
  // Each block has a slot. What tests let land is among the few slots that are finalized then.
  const slotAt = (commitment: Commitment): bigint =>
    script.blockHeight + (commitment === "finalized" ? 1010n : 1000n);
  const ledger = ledgerPort({
    genesisHash,
    slot: () => slotAt("finalized"),
    tip: (commitment) => ({
      slot: slotAt(commitment),
      blockHeight:
        script.blockHeight + (commitment === "finalized" ? script.falseHeight : script.heightAhead),
    }),
    accountAt: () => read,
    history: (address, before) => ({
      entries: before === null ? (script.listedOf.get(address) ?? script.listed) : [],
      keptFrom: script.keptFrom,
    }),
    transaction: (signature) => script.transactions.get(signature) ?? null,
  });
  const broadcaster = broadcasterPort({
    isBlockhashValid: (blockhash) => !script.staleBlockhashes.has(blockhash),
    simulate: () => ({
      slot: 2000n,
      error: script.simulationError,
      logs: script.simulationLogs,
    }),
    submit: (bytes) => {
      const decoded = decodeWireTransaction(bytes);
      if ("malformed" in decoded) return;
      script.sent.push(decoded.value.signature);
      script.onSend(decoded.value.signature);
    },
    landed: () => (signature) => script.landed.get(signature) ?? null,
    historyStart: () => script.historyStart,
    logs: () => ["a log line"],
  });
  const simulate = (bytes: Uint8Array): ReturnType<typeof broadcaster.simulate> =>
    Effect.suspend(() => {
      script.simulations += 1;
      const { simulationFault: fault } = script;
      if (fault === "hangs") return Effect.never;
      return fault === null ? broadcaster.simulate(bytes) : Effect.fail(fault);
    });
  const ports = Layer.mergeAll(
    Layer.succeed(Ledger, ledger),
    Layer.succeed(IndexReader, index),
    Layer.succeed(Broadcaster, { ...broadcaster, simulate }),
    Layer.succeed(Instance, { ...testInstance(), confirmTimeoutMs: 3_000 }),
    rateLimiterMemory({
      limits: { reads: limit, prepare: limit, relay: limit, sync: limit },
      windowSeconds: 60,
      maxClients: 100,
    }),
    patientClock(),
  );
  return { script, ports };
};

/** The relay over these ports and a log. Each layer is one run of the process. */
export const relayOver = (
  ports: ReturnType<typeof scriptedPorts>["ports"],
  log: Layer.Layer<OutcomeLog> = outcomeLogMemory,
) =>
  Layer.effect(RelayDelivery, makeRelayDelivery).pipe(
    Layer.provideMerge(Layer.mergeAll(ports, log)),
  );

export const TABLE_PROGRAM = ADDRESS_LOOKUP_TABLE_PROGRAM;
