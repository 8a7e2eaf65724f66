import { Effect, Stream } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { HistoryPage, LedgerTransaction } from "../../core/domain/ledger/history.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import { type Commitment, Ledger, type LedgerFailure } from "../../ports/ledger/ledger.ts";
import { isOfKind } from "../simulation/account-filters.ts";

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
  /** All accounts. Those of a kind are filtered from them. */
  readonly accounts?: (slot: bigint) => Iterable<LedgerAccount>;
  /** The chunks in which accounts of a kind come; one chunk by default. */
  readonly chunks?: (
    accounts: ReadonlyArray<LedgerAccount>,
  ) => ReadonlyArray<ReadonlyArray<LedgerAccount>>;
  readonly history?: (address: Address, before: LedgerSignature | null) => HistoryPage;
  readonly transaction?: (signature: LedgerSignature) => LedgerTransaction | null;
};

const unexpected = (call: string): never => {
  throw new Error(`the test's ledger was asked for ${call}`);
};

/** The Ledger port as a test describes it. A test replaces methods that need more. */
export const ledgerDouble = (parts: LedgerParts): Ledger["Service"] => {
  const { answer = (value) => Effect.sync(value), chunks = (accounts) => [accounts] } = parts;
  const slot = (commitment: Commitment): bigint =>
    parts.slot?.(commitment) ?? unexpected("its slot");
  return Ledger.of({
    genesisHash: answer(() => parts.genesisHash ?? unexpected("its genesis hash")),
    confirmIdentity: answer(() => undefined),
    tip: (commitment) => answer(() => parts.tip?.(commitment) ?? unexpected("its tip")),
    readAccounts: (addresses, commitment) =>
      answer(() => {
        const at = slot(commitment);
        const find = parts.accountAt?.(at, commitment) ?? unexpected("accounts");
        return { slot: at, value: addresses.map((address) => find(address)) };
      }),
    programAccounts: (kind) =>
      Stream.unwrap(
        Effect.map(
          answer(() => {
            const at = slot("finalized");
            const all = parts.accounts?.(at) ?? unexpected("accounts of a program");
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
