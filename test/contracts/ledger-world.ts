import type { Layer } from "effect";
import type { AccountKind } from "../../core/domain/ledger/account-kind.ts";
import type { Address } from "../../core/domain/address.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import type { Blockspace } from "../../ports/blockspace.ts";
import type { Broadcaster } from "../../ports/broadcaster.ts";
import type { Ledger } from "../../ports/ledger.ts";

/** A signed transfer of lamports. */
export type SignedTransfer = {
  readonly transaction: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: LedgerSignature;
};

/** A ledger that a contract suite may read and change, and the ports' adapters over it. */
export type LedgerWorld = {
  readonly layer: Layer.Layer<Ledger | Broadcaster | Blockspace>;
  readonly genesisHash: string;
  /** An account that does not change; its lamports are above 2^53. */
  readonly known: LedgerAccount;
  /**
   * A program and what it owns: accounts of a kind, more than a chunk holds, and others, of which some have the
   * kind's length and some its discriminator. None has more data than `MOST_DATA_BYTES`.
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
  /** An address that no account is at, another one each time. */
  readonly unused: () => Address;
  readonly transfer: (transfer: {
    readonly to: Address;
    readonly lamports: bigint;
    readonly blockhash: string;
  }) => SignedTransfer;
  /** A blockhash that can carry a transaction now. */
  readonly blockhash: () => string;
  /** Makes everything that landed so far finalized. */
  readonly settle: () => void;
  readonly close: () => Promise<void>;
};
