import type { Address } from "../../../domain/address.ts";
import { AddressFingerprints } from "../../../domain/address-fingerprints.ts";
import type { UnseenEscrow } from "../../../domain/index/indexed-escrow.ts";
import type { RejectedAccount, SyncCounts } from "../../../domain/index/sync-report.ts";
import type { AccountFault, LedgerAccount } from "../../../domain/ledger/account.ts";
import type { Deployment } from "../../../domain/ledger/deployment.ts";
import type { Merchant } from "../../../domain/merchant/merchant.ts";
import { unreadableEscrowOf, unseenEscrowOf } from "../../../log/leaf/escrow-rows.ts";
import type { EscrowOutline } from "../../../protocol/accounts/escrow-outline.ts";
import { readProgramAccount } from "../../../protocol/accounts/program-account.ts";
import type { Observed } from "../../../../ports/index/index-writer.ts";

/** The most escrows kept that cannot be decoded. Only a node that invents accounts shows more. */
const MAX_UNREADABLE = 10_000;
/** The most rejected accounts that a report names. All are counted. */
const MAX_REJECTED_NAMED = 100;
/**
 * How far above a sync's tip an account's slot is believed, slots: five minutes. No later answer is then kept out for
 * longer.
 */
const MOST_ABOVE_TIP = 750n;

/** The outline of an escrow and the account's bytes. */
export type ReadEscrow = { readonly escrow: EscrowOutline; readonly data: Uint8Array };

/** What some accounts were read as. */
export type ReadRows = {
  readonly escrows: ReadonlyArray<ReadEscrow>;
  readonly unseen: ReadonlyArray<UnseenEscrow>;
  readonly merchants: ReadonlyArray<Observed<Merchant>>;
};

/** How many rows of one kind a sync changed. */
export class KindTally {
  rejected = 0;
  created = 0;
  updated = 0;
  unchanged = 0;

  /** The counts as a report shows them. */
  get counts(): SyncCounts {
    const { created, updated, unchanged, rejected } = this;
    return {
      seen: created + updated + unchanged + rejected,
      created,
      updated,
      unchanged,
      rejected,
    };
  }
}

/** Decodes the accounts that a sync reads, and counts what it did with them. */
export class IndexAccounts {
  readonly escrows = new KindTally();
  readonly merchants = new KindTally();
  readonly rejected: Array<RejectedAccount> = [];
  /** Escrows that cannot be decoded, as they were read last. Only the root can prove one. */
  readonly unreadable = new Map<Address, UnseenEscrow>();
  /** Accounts of all kinds read so far, with repeats. */
  read = 0;
  readonly #deployment: Deployment;
  readonly #newestSlot: bigint;
  readonly #rejections = new AddressFingerprints();

  /** `tipSlot` is the slot of the sync's tip. */
  constructor(deployment: Deployment, tipSlot: bigint) {
    this.#deployment = deployment;
    this.#newestSlot = tipSlot + MOST_ABOVE_TIP;
  }

  /**
   * The valid rows among accounts that were read at `slot`. Accounts of other programs are skipped. But when the
   * accounts were asked for as those of `program`, an account of another owner is a wrong answer, and rejected.
   */
  decode(slot: bigint, accounts: ReadonlyArray<LedgerAccount>, program?: Address): ReadRows {
    const escrows: Array<ReadEscrow> = [];
    const unseen: Array<UnseenEscrow> = [];
    const merchants: Array<Observed<Merchant>> = [];
    this.read += accounts.length;
    const believed = slot < this.#newestSlot ? slot : this.#newestSlot;
    for (const account of accounts) {
      const { address, data } = account;
      if (program !== undefined && account.owner !== program) {
        const isEscrow = program === this.#deployment.custodyProgram;
        this.#reject(isEscrow ? this.escrows : this.merchants, address, "wrong_owner");
        continue;
      }
      const read = readProgramAccount(account, this.#deployment);
      if (read === null) continue;
      if ("fault" in read.decoded) {
        const isMerchant = read.kind === "merchant";
        this.#reject(isMerchant ? this.merchants : this.escrows, address, read.decoded.fault);
        if (!isMerchant) this.#keepUnreadable(account);
      } else if (read.kind === "archived_escrow")
        unseen.push(unseenEscrowOf(address, read.decoded.value));
      else if (read.kind === "escrow") escrows.push({ escrow: read.decoded.value, data });
      else merchants.push({ row: read.decoded.value, slot: believed });
    }
    return { escrows, unseen, merchants };
  }

  #keepUnreadable(account: LedgerAccount): void {
    const row = unreadableEscrowOf(account);
    if (row !== undefined && this.unreadable.size < MAX_UNREADABLE)
      this.unreadable.set(account.address, row);
  }

  #reject(tally: KindTally, address: Address, fault: AccountFault): void {
    if (!this.#rejections.add(address)) return;
    tally.rejected += 1;
    if (this.rejected.length < MAX_REJECTED_NAMED) this.rejected.push({ address, fault });
  }
}
