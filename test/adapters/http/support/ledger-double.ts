import { Effect, Layer } from "effect";
import { ed25519PublicKey } from "../../../../adapters/signer/ed25519-key.ts";
import { type Address, addressFromBytes, parseAddress } from "../../../../core/domain/address.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import type { LedgerTransaction } from "../../../../core/domain/ledger/history.ts";
import type {
  LandedTransaction,
  TransactionError,
} from "../../../../core/domain/relay/relay-entry.ts";
import { Blockspace } from "../../../../ports/ledger/blockspace.ts";
import { Broadcaster } from "../../../../ports/ledger/broadcaster.ts";
import { type Commitment, Ledger, type LedgerFailure } from "../../../../ports/ledger/ledger.ts";
import { RENT_SYSVAR } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { custodyConfigAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { custodyConfigOf } from "../../../simulation/custody-log.ts";
import { registryOf } from "../../../doubles/registry.ts";
import { accountOf, clockAccount, rentAccount, walletAccount } from "../../../doubles/accounts.ts";
import { broadcasterPort } from "../../../world/broadcaster-port.ts";
import { type Answer, ledgerPort } from "../../../world/ledger-port.ts";

/** The payer of the relay tests' transactions. */
export const PAYER = addressFromBytes(ed25519PublicKey(new Uint8Array(32).fill(9)));

/** What a test sets on the ledger behind the ports. */
export type LedgerDouble = {
  /** Where it has no custody config, that of the other accounts is shown; where it has no registry, an initialised one. */
  readonly accounts: Map<Address, LedgerAccount>;
  readonly put: (account: Omit<LedgerAccount, "lamports" | "executable">) => void;
  /** Unix seconds of the Clock sysvar. */
  setClock: (seconds: bigint) => void;
  /** How every later read fails, or that it never ends; null: reads work. */
  fault: LedgerFailure | "hangs" | null;
  /** The newest confirmed slot. */
  slot: bigint;
  /** How many slots behind it the ledger is finalized. */
  finalizedBehind: bigint;
  /** Accounts that no finalized read shows yet. */
  readonly unfinalized: Set<Address>;
  /** Finalized transactions, oldest first. */
  readonly history: Array<LedgerTransaction>;
  /** The slot from which the history is complete; null: the node does not say. */
  historyFrom: bigint | null;
  /** The number of calls. */
  reads: number;
  /** The transactions that were sent to the node, base64. */
  readonly submitted: Array<string>;
  /** What each transaction does on the ledger when it is sent; nothing by default. */
  onSubmit: () => void;
  blockhashValid: boolean;
  simulationError: TransactionError | null;
  landed: LandedTransaction | null;
  /** The node's recent prices, micro-lamports. */
  prices: ReadonlyArray<bigint>;
  /** Log lines of landed transactions. */
  logs: ReadonlyArray<string>;
  /** Makes everything work again, and gives every payer enough lamports. */
  reset: () => void;
};

/** A ledger of accounts in memory that implements the ports. */
export const makeLedgerDouble = (genesisHash: string) => {
  const accounts = new Map<Address, LedgerAccount>();
  const put: LedgerDouble["put"] = ({ address, owner, data }) =>
    void accounts.set(address, accountOf(address, owner, data));
  const setClock = (seconds: bigint) => put(clockAccount(seconds));
  accounts.set(RENT_SYSVAR, rentAccount);
  const works = {
    fault: null,
    blockhashValid: true,
    simulationError: null,
    landed: null,
    prices: [],
    logs: [],
    onSubmit: () => {},
  };
  const registry = registryOf(LOCAL_DEPLOYMENT);
  const config = custodyConfigAddress(LOCAL_DEPLOYMENT).address;
  const find = (address: Address): LedgerAccount | null => {
    const account = accounts.get(address);
    if (account !== undefined) return account;
    if (address === registry.address) return registry;
    return address === config
      ? custodyConfigOf(LOCAL_DEPLOYMENT, accounts.values(), parseAddress(genesisHash))
      : null;
  };
  const double: LedgerDouble = {
    accounts,
    put,
    setClock,
    slot: 1000n,
    finalizedBehind: 0n,
    unfinalized: new Set(),
    history: [],
    historyFrom: null,
    reads: 0,
    submitted: [],
    ...works,
    reset: () => {
      Object.assign(double, works);
      double.submitted.length = 0;
      accounts.set(PAYER, walletAccount(PAYER, 1_000_000n));
    },
  };
  const answer: Answer = (value) =>
    Effect.suspend(() => {
      double.reads += 1;
      if (double.fault === null) return Effect.succeed(value());
      return double.fault === "hangs" ? Effect.never : Effect.fail(double.fault);
    });
  const slotAt = (commitment: Commitment): bigint =>
    commitment === "finalized" ? double.slot - double.finalizedBehind : double.slot;
  const ledger = ledgerPort({
    answer,
    genesisHash,
    slot: slotAt,
    tip: (commitment) => ({ slot: slotAt(commitment), blockHeight: slotAt(commitment) }),
    accountAt: (_slot, commitment) => (address) =>
      commitment === "finalized" && double.unfinalized.has(address) ? null : find(address),
    accounts: () => accounts.values(),
    history: (address, before) => {
      const listed = double.history.filter(({ accounts }) => accounts.includes(address));
      const from = listed.findIndex(({ signature }) => signature === before);
      return {
        entries: listed.slice(0, from < 0 ? undefined : from).toReversed(),
        keptFrom: double.historyFrom,
      };
    },
    transaction: (signature) => double.history.find((each) => each.signature === signature) ?? null,
  });
  const broadcaster = broadcasterPort({
    answer,
    isBlockhashValid: () => double.blockhashValid,
    simulate: () => ({
      slot: double.slot,
      error: double.simulationError,
      logs: ["Program log: double"],
    }),
    submit: (transaction) => {
      double.submitted.push(encodeBase64(transaction));
      double.onSubmit();
    },
    // A transaction is unknown before it is sent.
    landed: () => () => (double.submitted.length === 0 ? null : double.landed),
    historyStart: () => 0n,
    logs: () => double.logs,
  });
  const blockspace = Blockspace.of({
    latestBlockhash: answer(() => ({
      blockhash: addressFromBytes(new Uint8Array(32).fill(5)),
      lastValidBlockHeight: double.slot + 150n,
      slot: double.slot,
    })),
    recentPrices: () => answer(() => double.prices),
  });
  const layer = Layer.mergeAll(
    Layer.succeed(Ledger, ledger),
    Layer.succeed(Broadcaster, broadcaster),
    Layer.succeed(Blockspace, blockspace),
  );
  return { double, layer };
};
