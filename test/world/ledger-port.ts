import { Effect, Stream } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { HistoryPage, LedgerTransaction } from "../../core/domain/ledger/history.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import {
  type Commitment,
  Ledger,
  type LedgerFailure,
  MOST_DATA_BYTES,
} from "../../ports/ledger/ledger.ts";
import { isOfKind } from "../simulation/account-filters.ts";
import type { ChainView } from "./chain.ts";

/** How a double answers: at once, late, or never. Runs `value` at most once, when it answers. */
export type Answer = <A>(value: () => A) => Effect.Effect<A, LedgerFailure>;

/** The content of a test's ledger and the behaviour of its nodes. A call that the test does not describe dies. */
export type LedgerParts = {
  /** Answers every call at once by default. */
  readonly answer?: Answer;
  readonly genesisHash?: string;
  /** The slot of an answer, read once for each. */
  readonly slot?: (commitment: Commitment) => bigint;
  readonly tip?: (commitment: Commitment) => {
    readonly slot: bigint;
    readonly blockHeight: bigint;
  };
  /** The accounts that one answer shows, by their addresses. */
  readonly accountAt?: (
    slot: bigint,
    commitment: Commitment,
  ) => (address: Address) => LedgerAccount | null;
  /** The accounts of a program. Those of a kind are filtered from them. */
  readonly accounts?: (slot: bigint, program: Address) => Iterable<LedgerAccount>;
  /** The chunks in which accounts of a kind come; of a thousand by default. */
  readonly chunks?: (
    accounts: ReadonlyArray<LedgerAccount>,
  ) => ReadonlyArray<ReadonlyArray<LedgerAccount>>;
  readonly history?: (address: Address, before: LedgerSignature | null) => HistoryPage;
  readonly transaction?: (signature: LedgerSignature) => LedgerTransaction | null;
};

const MOST_ACCOUNTS = 100;
const MOST_LISTED = 1000;

const unexpected = (call: string): never => {
  throw new Error(`the test's ledger was asked for ${call}`);
};

const inThousands = (accounts: ReadonlyArray<LedgerAccount>) =>
  Array.from({ length: Math.max(1, Math.ceil(accounts.length / MOST_LISTED)) }, (_, i) =>
    accounts.slice(i * MOST_LISTED, (i + 1) * MOST_LISTED),
  );

const cut = (account: LedgerAccount | null, most: number): LedgerAccount | null =>
  account === null || account.data.length <= most
    ? account
    : { ...account, data: account.data.slice(0, most) };

/** A healthy node of a chain, part by part. A test replaces the parts that misbehave. */
export const partsOf = (chain: ChainView) => {
  const slot = (commitment: Commitment): bigint =>
    commitment === "finalized" ? chain.slot - chain.finality : chain.slot;
  return {
    genesisHash: chain.genesisHash,
    slot,
    tip: (commitment: Commitment) => ({ slot: slot(commitment), blockHeight: slot(commitment) }),
    accountAt: (at: bigint) => (address: Address) => chain.accountAt(address, at),
    *accounts(at: bigint, program: Address) {
      for (const [, account] of chain.accountsOf(program, at)) yield account;
    },
    history: (address: Address, before: LedgerSignature | null): HistoryPage => ({
      entries: chain.newestOf(address, slot("finalized"), before, MOST_LISTED),
      keptFrom: chain.firstSlot,
    }),
    transaction: (signature: LedgerSignature) => {
      const shown = chain.transaction(signature);
      return shown === undefined || shown.slot > slot("finalized") ? null : shown;
    },
  } satisfies LedgerParts;
};

/** The Ledger port as a test describes it. A test replaces methods that need more. */
export const ledgerPort = (parts: LedgerParts): Ledger["Service"] => {
  const { answer = (value) => Effect.sync(value), chunks = inThousands } = parts;
  const slot = (commitment: Commitment): bigint =>
    parts.slot?.(commitment) ?? unexpected("its slot");
  return Ledger.of({
    genesisHash: answer(() => parts.genesisHash ?? unexpected("its genesis hash")),
    confirmIdentity: answer(() => undefined),
    tip: (commitment) => answer(() => parts.tip?.(commitment) ?? unexpected("its tip")),
    readAccounts: (addresses, commitment, most = MOST_DATA_BYTES) =>
      answer(() => {
        if (addresses.length > MOST_ACCOUNTS) unexpected("more than a hundred accounts");
        const at = slot(commitment);
        const find = parts.accountAt?.(at, commitment) ?? unexpected("accounts");
        return { slot: at, value: addresses.map((address) => cut(find(address), most)) };
      }),
    programAccounts: (kind) =>
      Stream.unwrap(
        Effect.map(
          answer(() => {
            const at = slot("finalized");
            const all = parts.accounts?.(at, kind.program) ?? unexpected("accounts of a program");
            const ofKind = [...all].filter((account) => isOfKind(account, kind));
            return chunks(ofKind).map((value) => ({ slot: at, value }));
          }),
          Stream.fromIterable,
        ),
      ),
    history: (address, before) =>
      answer(() => parts.history?.(address, before) ?? unexpected("its history")),
    transaction: (signature) =>
      answer(() => (parts.transaction ?? (() => unexpected("a transaction")))(signature)),
  });
};
