import type { Layer } from "effect";
import type { AccountKind, LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { Address } from "../../core/domain/address.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import type { Blockspace } from "../../ports/ledger/blockspace.ts";
import type { Broadcaster } from "../../ports/ledger/broadcaster.ts";
import type { Ledger } from "../../ports/ledger/ledger.ts";

/** A signed transfer of lamports. */
export type SignedTransfer = {
  readonly transaction: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: LedgerSignature;
};

/** A ledger that a contract suite may read and change, with the adapters of the ports. */
export type LedgerWorld = {
  readonly layer: Layer.Layer<Ledger | Broadcaster | Blockspace>;
  readonly genesisHash: string;
  /** An account that never changes. Its lamports exceed 2^53. */
  readonly known: LedgerAccount;
  /**
   * A program and its accounts: more of one kind than a chunk holds, and others, some with the kind's length and some
   * with its discriminator. None has more data than `MOST_DATA_BYTES`.
   */
  readonly program: {
    readonly kind: AccountKind;
    readonly accounts: ReadonlyArray<LedgerAccount>;
    readonly others: ReadonlyArray<LedgerAccount>;
  };
  /** An account with more data than `MOST_DATA_BYTES`. */
  readonly long: LedgerAccount;
  /** A program that owns nothing. */
  readonly idleProgram: Address;
  /** A new address without an account on each call. */
  readonly unused: () => Address;
  readonly transfer: (transfer: {
    readonly to: Address;
    readonly lamports: bigint;
    readonly blockhash: string;
  }) => SignedTransfer;
  /** A blockhash that is valid now. */
  readonly blockhash: () => string;
  /** Finalizes everything that has landed so far. */
  readonly finalize: () => void;
  readonly close: () => Promise<void>;
};
