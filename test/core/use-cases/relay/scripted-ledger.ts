import { Effect, Layer } from "effect";
import { outcomeLogMemory } from "../../../../adapters/memory/outcome-log.ts";
import { rateLimiterMemory } from "../../../../adapters/memory/rate-limiter.ts";
import { type Address, addressToBytes } from "../../../../core/domain/address.ts";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import type { HistoryEntry } from "../../../../core/domain/ledger/history.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { fieldWriter } from "../../../../core/protocol/accounts/byte-fields.ts";
import {
  ADDRESS_LOOKUP_TABLE_PROGRAM,
  CLOCK_SYSVAR,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import {
  makeRelayDelivery,
  RelayDelivery,
} from "../../../../core/use-cases/relay/relay-delivery.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { Instance } from "../../../../ports/instance.ts";
import type { OutcomeLog } from "../../../../ports/outcome-log.ts";
import { walletAccount } from "../../../doubles/accounts.ts";
import { indexWithoutRows } from "../../../doubles/index-without-rows.ts";
import { ScriptedChain } from "../../../world/scripted-chain.ts";
import type { TestLedger } from "../../../programs/fixture/test-ledger.ts";
import { testInstance } from "../test-instance.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

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

/** What an address holds on a ledger for tests of programs, null for nothing. */
const accountOn =
  (ledger: TestLedger) =>
  (address: Address): LedgerAccount | null => {
    const account = ledger.account(address);
    return account.lamports === 0n && account.data.length === 0 ? null : account;
  };
const richWallet = (address: Address): LedgerAccount | null =>
  address === CLOCK_SYSVAR ? null : walletAccount(address, 1_000_000n);

/** The chain under a relay, and the lies of its node about heights and histories. */
export class RelayChain extends ScriptedChain {
  /** How far the confirmed height is above the finalized one. */
  heightAhead = 0n;
  /** What a lying node adds to the finalized height, and not to its slot. */
  falseHeight = 0n;
  /** What the node lists of any address, newest first; by default one transaction from before every relay. */
  listed: ReadonlyArray<HistoryEntry> = [EARLIER];
  /** What it lists of single addresses instead. */
  readonly listedOf = new Map<Address, ReadonlyArray<HistoryEntry>>();
  override logs = ["a log line"];

  constructor(elsewhere: (address: Address) => LedgerAccount | null) {
    super(undefined, elsewhere);
    this.blockHeight = 1000n;
  }

  /** The finalized height. Each block has a slot, and the last ten of those that a test lets land are finalized too. */
  get blockHeight(): bigint {
    return this.slot - 1010n;
  }
  set blockHeight(height: bigint) {
    this.slot = height + 1010n;
  }

  readonly ports = this.portsWith({
    tip: (commitment) =>
      commitment === "finalized"
        ? { slot: this.slot, blockHeight: this.blockHeight + this.falseHeight }
        : { slot: this.slot - 10n, blockHeight: this.blockHeight + this.heightAhead },
    history: (address, before) => ({
      entries: before === null ? (this.listedOf.get(address) ?? this.listed) : [],
      keptFrom: this.keptFrom,
    }),
  });
}

/** The relay's ports over a scripted chain, beside an index. Accounts come from `accounts`. */
export const scriptedPorts = (accounts?: TestLedger, limit = 1000, index = indexWithoutRows()) => {
  const script = new RelayChain(accounts === undefined ? richWallet : accountOn(accounts));
  const ports = Layer.mergeAll(
    script.ports,
    Layer.succeed(IndexReader, index),
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

type RelayWorld = {
  readonly accounts: TestLedger | undefined;
  readonly limit: number;
  readonly index: ReturnType<typeof indexWithoutRows> | undefined;
};
type Relay = Layer.Success<ReturnType<typeof relayOver>>;

/** Runs a test's steps, as `Effect.gen` takes them, at a relay over a scripted chain. */
export const relaying = <A>(
  steps: (script: RelayChain) => Generator<Effect.Effect<unknown, unknown, Relay>, A, never>,
  { accounts, limit, index }: Partial<RelayWorld> = {},
): Promise<A> => {
  const { script, ports } = scriptedPorts(accounts, limit, index);
  return Effect.gen(() => steps(script)).pipe(Effect.provide(relayOver(ports)), Effect.runPromise);
};

export const TABLE_PROGRAM = ADDRESS_LOOKUP_TABLE_PROGRAM;
