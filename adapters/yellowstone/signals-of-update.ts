import { type Address, addressFromBytes } from "../../core/domain/address.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import type { LedgerSignal } from "../../ports/ledger/ledger-signals.ts";
import type { SubscribeUpdate } from "./geyser-protocol.ts";
import { programOfFilter } from "./subscription.ts";

const told = (
  signature: Uint8Array | undefined,
  slot: string | undefined,
  names: Address | undefined,
): LedgerSignal =>
  signature?.length === 64 && slot !== undefined && names !== undefined
    ? { signature: ledgerSignatureFromBytes(signature), slot: BigInt(slot), names }
    : null;

/** The slot of an update; null for one of no slot. */
export const slotOf = (update: SubscribeUpdate): bigint | null => {
  const slot = (update.slot ?? update.account ?? update.transaction_status)?.slot;
  return slot === undefined ? null : BigInt(slot);
};

/**
 * The signals in an update: one for each program that its transaction names, null where the update does not say which
 * transaction or program it was. None for slots, pings, accounts of other owners and transactions that failed.
 */
export const signalsOf = (
  update: SubscribeUpdate,
  programs: ReadonlyArray<Address>,
): ReadonlyArray<LedgerSignal> => {
  const { account, transaction_status: transaction, filters } = update;
  if (account !== undefined) {
    const bytes = account.account?.owner;
    const owner = bytes?.length === 32 ? addressFromBytes(bytes) : undefined;
    if (owner === undefined) return [null];
    // Startup updates are a node's load of its snapshot, not changes.
    if (account.is_startup === true || !programs.includes(owner)) return [];
    return [told(account.account?.txn_signature, account.slot, owner)];
  }
  if (transaction === undefined || (transaction.err ?? null) !== null) return [];
  const named = filters
    .map((filter) => programOfFilter(filter, programs))
    .filter((program) => program !== undefined);
  return named.length === 0
    ? [null]
    : named.map((program) => told(transaction.signature, transaction.slot, program));
};
