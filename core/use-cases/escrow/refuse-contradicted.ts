import { Clock, Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { leavesOfTombstone, type NumberedLeaf } from "../../log/leaf/escrow-leaves.ts";
import { leavesOfUnseen } from "../../log/leaf/indexed-leaves.ts";
import { unreadableEscrowOf } from "../../log/leaf/escrow-rows.ts";
import { decodeArchivedEscrowAccount } from "../../protocol/accounts/archived-escrow-account.ts";
import { decodeCustodyConfigAccount } from "../../protocol/accounts/settings-accounts.ts";
import { fieldsOf } from "../../protocol/accounts/byte-fields.ts";
import {
  encodeEscrowAccount,
  ESCROW_ACCOUNT_LENGTH,
} from "../../protocol/accounts/escrow-account.ts";
import { ARCHIVE_DELAY_SECONDS } from "../../protocol/accounts/escrow-rules.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { Instance } from "../../../ports/instance.ts";
import { LedgerUnavailable } from "../../../ports/ledger/ledger.ts";
import { provedLeaves } from "../index/index-query.ts";
import { type ReadPlace, RelayMemory } from "../relay/relayed-effects.ts";
import { untrustworthy } from "../or-ask-another.ts";

type Leaves = ReadonlyArray<NumberedLeaf>;

/** How long an escrow stays whole after its settlement, milliseconds. */
const ARCHIVE_DELAY_MS = Number(ARCHIVE_DELAY_SECONDS) * 1000;

/** Whether one of these leaves has the number and the bytes of another. */
export const holdsLeaf = (leaves: Leaves, { seq, leaf }: NumberedLeaf): boolean =>
  leaves.some((one) => one.seq === seq && one.leaf.toHex() === leaf.toHex());

/**
 * The leaves of an escrow's events that the index has proved by the ledger's root. Null when the store does not answer.
 */
const provedOf = (address: Address) => Effect.orElseSucceed(provedLeaves([address]), () => null);

/**
 * The escrow of the index's row at an address when its account has these very bytes, and so the same events; null
 * otherwise, and when the store does not answer. Most accounts that are read are such.
 */
export const indexedAs = Effect.fnUntraced(function* (
  address: Address,
  { owner, data }: LedgerAccount,
  deployment: Deployment,
) {
  if (owner !== deployment.custodyProgram || data.length !== ESCROW_ACCOUNT_LENGTH) return null;
  const index = yield* IndexReader;
  const held = yield* Effect.orElseSucceed(index.escrowsAt([address]), () => null);
  const row = held?.escrows[0];
  if (row === undefined) return null;
  return fieldsOf(data).isAt(0, encodeEscrowAccount(row)) ? row : null;
});

/** The events that an account shows: those of an escrow, whole or archived. Every other account shows none. */
const shownEvents = (
  address: Address,
  account: LedgerAccount | null,
  deployment: Deployment,
): { readonly shown: Leaves; readonly isTombstone: boolean } => {
  if (account === null || account.owner !== deployment.custodyProgram)
    return { shown: [], isTombstone: false };
  const archived = decodeArchivedEscrowAccount(account, deployment);
  if ("value" in archived)
    return { shown: leavesOfTombstone(address, archived.value), isTombstone: true };
  // An escrow that cannot be decoded has its events all the same.
  const escrow = unreadableEscrowOf({ address, data: account.data });
  return { shown: escrow === undefined ? [] : leavesOfUnseen(escrow), isTombstone: false };
};

/**
 * Fails with a retryable `LedgerUnavailable` when the account that a node shows at an address, read at `at`, lacks what
 * this relay saw confirmed there, unless the index is complete to that slot: then the index tells. The same while it is
 * not known yet what an earlier process saw.
 */
export const refuseUnseen = Effect.fnUntraced(function* (
  address: Address,
  account: LedgerAccount | null,
  at: ReadPlace,
) {
  const memory = yield* RelayMemory;
  if (memory === null) return;
  const { custodyProgram, attestorProgram } = (yield* Instance).deployment;
  const isOurs = account?.owner === custodyProgram || account?.owner === attestorProgram;
  if (!isOurs && !(yield* memory.whenResumed))
    return yield* new LedgerUnavailable({
      retryable: true,
      cause: "the relay's log is not read yet",
    });
  const missing = memory.missing(address, account, at);
  if (missing === undefined) return;
  const { kind, signature, slot } = missing;
  if (slot !== null) {
    const index = yield* IndexReader;
    const summary = yield* Effect.orElseSucceed(index.summary, () => null);
    const mark = summary?.mark ?? null;
    if (mark !== null && mark.slot >= slot) return memory.forget(signature);
  }
  const seen = slot === null ? "took on" : `saw confirmed at slot ${slot}`;
  return yield* untrustworthy(
    `the account at ${address} does not show the ${kind} of ${signature}, which this relay ${seen}`,
    "relay",
  );
});

/**
 * Fails with a retryable `LedgerUnavailable` when the custody program's configuration, read at `slot` (null where there
 * is none), is from before the index's mark: a ledger that was begun anew under the same genesis hash says that nothing
 * is there. For reads that came to a "no".
 */
export const refuseEmptied = Effect.fnUntraced(function* (
  config: LedgerAccount | null,
  slot: bigint,
) {
  const index = yield* IndexReader;
  const { deployment } = yield* Instance;
  const summary = yield* Effect.orElseSucceed(index.summary, () => null);
  const mark = summary?.mark ?? null;
  if (mark === null || mark.slot > slot) return;
  const decoded = config === null ? undefined : decodeCustodyConfigAccount(config, deployment);
  const count = decoded !== undefined && "value" in decoded ? decoded.value.count : null;
  if (count !== null && count >= mark.count) return;
  const shown = count === null ? "no custody config" : `${count} events`;
  return yield* untrustworthy(
    `${shown} at slot ${slot}, where the index has ${mark.count} events up to slot ${mark.slot}`,
  );
});

/**
 * Fails with a retryable `LedgerUnavailable` when the account that a node shows at an address (null for none), read at
 * `at`, lacks what this relay saw confirmed (`refuseUnseen`; null asks for no such check), and when it contradicts what
 * the index proves of it:
 * - an event that the index has is missing in the account, or differs;
 * - the account shows an event up to the index's mark that the index does not have there;
 * - the account is a tombstone of an escrow that was settled after the mark, and the mark is younger than the archive delay by the
 *   service's clock.
 * Other events above the mark may be new. The index only refuses accounts and is never an answer itself. Without the
 * store every account is believed. Returns the escrow that the account's bytes hold where the index has the same bytes,
 * and null otherwise.
 */
export const refuseContradicted = Effect.fnUntraced(function* (
  address: Address,
  account: LedgerAccount | null,
  at: ReadPlace | null,
) {
  const { deployment } = yield* Instance;
  if (at !== null) yield* refuseUnseen(address, account, at);
  const indexed = account === null ? null : yield* indexedAs(address, account, deployment);
  if (indexed !== null) return indexed;
  const { shown, isTombstone } = shownEvents(address, account, deployment);
  const proved = yield* provedOf(address);
  if (proved === null) return null;
  if (proved.length > 0 && shown.length === 0)
    return yield* untrustworthy(`no escrow at ${address}, where the index proves one`);
  if (!proved.every((leaf) => holdsLeaf(shown, leaf)))
    return yield* untrustworthy(`the account at ${address} is not the one that the index proves`);
  const added = shown.filter((leaf) => !holdsLeaf(proved, leaf));
  const [first] = added;
  if (first === undefined) return null;
  const index = yield* IndexReader;
  const summary = yield* Effect.orElseSucceed(index.summary, () => null);
  const mark = summary?.mark ?? null;
  if (mark === null) return null;
  const { count, atMs } = mark;
  if (first.seq <= count) {
    // The row may have come since it was looked up.
    const now = yield* provedOf(address);
    if (now !== null && !holdsLeaf(now, first))
      return yield* untrustworthy(
        `the account at ${address} shows event ${first.seq}, which the index, complete to ${count}, does not have there`,
      );
  }
  const isSettledSince = isTombstone && added.some(({ seq }) => seq > count);
  if (isSettledSince && (yield* Clock.currentTimeMillis) - atMs < ARCHIVE_DELAY_MS)
    return yield* untrustworthy(
      `the account at ${address} is a tombstone of an escrow that was settled after event ${count}, which is too short a time ago`,
    );
  return null;
});
