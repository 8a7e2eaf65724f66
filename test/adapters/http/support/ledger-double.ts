import { Effect, Layer, Stream } from "effect";
import { ed25519PublicKey } from "../../../../adapters/signer/ed25519-key.ts";
import { type Address, addressFromBytes } from "../../../../core/domain/address.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import type { LedgerTransaction } from "../../../../core/domain/ledger/history.ts";
import type {
  LandedTransaction,
  TransactionError,
} from "../../../../core/domain/relay/transaction-outcome.ts";
import {
  CLOCK_SYSVAR,
  SYSTEM_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { Broadcaster } from "../../../../ports/broadcaster.ts";
import { Ledger, type LedgerFailure } from "../../../../ports/ledger.ts";
import { isOfKind } from "../../../simulation/account-filters.ts";

/** The payer of the relay tests' transactions. */
export const PAYER = addressFromBytes(ed25519PublicKey(new Uint8Array(32).fill(9)));

/** What a test sets on the ledger behind the ports. */
export type LedgerDouble = {
  readonly accounts: Map<Address, LedgerAccount>;
  readonly put: (account: Omit<LedgerAccount, "lamports" | "executable">) => void;
  /** Unix seconds of the Clock sysvar. */
  setClock: (seconds: bigint) => void;
  /** Every read from now on fails like this, or never ends; null: they work. */
  fault: LedgerFailure | "hangs" | null;
  slot: bigint;
  /** Finalized transactions, oldest first. */
  readonly history: Array<LedgerTransaction>;
  /** The slot from which the history is complete; null: the node does not say. */
  historyFrom: bigint | null;
  /** How often it was asked for anything. */
  reads: number;
  /** What was handed to the node, base64. */
  readonly submitted: Array<string>;
  blockhashValid: boolean;
  simulationError: TransactionError | null;
  landed: LandedTransaction | null;
  /** Log lines of what has landed. */
  logs: ReadonlyArray<string>;
  /** Makes everything work again, and rich whoever the relay asks about. */
  reset: () => void;
};

/** A ledger of accounts in memory, at the edge of the ports and nowhere deeper. */
export const makeLedgerDouble = (genesisHash: string) => {
  const accounts = new Map<Address, LedgerAccount>();
  const put: LedgerDouble["put"] = (account) =>
    void accounts.set(account.address, { ...account, lamports: 1n, executable: false });
  const setClock = (seconds: bigint) => {
    const data = new Uint8Array(40);
    new DataView(data.buffer).setBigInt64(32, seconds, true);
    put({ address: CLOCK_SYSVAR, owner: SYSTEM_PROGRAM, data });
  };
  const works = {
    fault: null,
    blockhashValid: true,
    simulationError: null,
    landed: null,
    logs: [],
  };
  const double: LedgerDouble = {
    accounts,
    put,
    setClock,
    slot: 1000n,
    history: [],
    historyFrom: null,
    reads: 0,
    submitted: [],
    ...works,
    reset: () => {
      Object.assign(double, works);
      double.submitted.length = 0;
      accounts.set(PAYER, {
        address: PAYER,
        owner: SYSTEM_PROGRAM,
        lamports: 1_000_000n,
        executable: false,
        data: new Uint8Array(),
      });
    },
  };
  const answer = <A>(value: () => A): Effect.Effect<A, LedgerFailure> =>
    Effect.suspend(() => {
      double.reads += 1;
      if (double.fault === null) return Effect.succeed(value());
      return double.fault === "hangs" ? Effect.never : Effect.fail(double.fault);
    });
  const ledger = Layer.succeed(Ledger, {
    genesisHash: answer(() => genesisHash),
    tip: () => answer(() => ({ slot: double.slot, blockHeight: double.slot })),
    readAccounts: (addresses) =>
      answer(() => ({
        slot: double.slot,
        value: addresses.map((address) => accounts.get(address) ?? null),
      })),
    history: (address) =>
      answer(() => ({
        entries: double.history.filter(({ accounts }) => accounts.includes(address)).toReversed(),
        completeFrom: double.historyFrom,
      })),
    transaction: (signature) =>
      answer(() => double.history.find((each) => each.signature === signature) ?? null),
    programAccounts: (kind) =>
      Stream.fromEffect(
        answer(() => ({
          slot: double.slot,
          value: [...accounts.values()].filter((account) => isOfKind(account, kind)),
        })),
      ),
  });
  const broadcaster = Layer.succeed(Broadcaster, {
    isBlockhashValid: () => answer(() => double.blockhashValid),
    fee: () => answer(() => 5000n),
    simulate: () =>
      answer(() => ({
        slot: double.slot,
        error: double.simulationError,
        logs: ["Program log: double"],
      })),
    submit: (transaction) =>
      answer(() => {
        double.submitted.push(encodeBase64(transaction));
      }),
    // Nothing is known of a transaction before it was handed over.
    landed: () => answer(() => (double.submitted.length === 0 ? null : double.landed)),
    landedAll: (signatures) =>
      answer(() => signatures.map(() => (double.submitted.length === 0 ? null : double.landed))),
    searchAll: (signatures) =>
      answer(() => ({
        landed: signatures.map(() => (double.submitted.length === 0 ? null : double.landed)),
        completeFrom: 0n,
      })),
    logs: () => answer(() => double.logs),
  });
  return { double, layer: Layer.merge(ledger, broadcaster) };
};
