import { Clock, Context, Effect } from "effect";
import { type Hash32, parseHash32 } from "../../domain/hash32.ts";
import type { Address } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import { hash32FromBytes } from "../../domain/hash32.ts";
import type { Merchant } from "../../domain/merchant/merchant.ts";
import { RecentlyUsed } from "../../domain/recently-used.ts";
import { sha256 } from "../../domain/sha256.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import type { EvidenceNetwork } from "../../protocol/evidence/evidence-data.ts";
import type { EvidenceKey } from "../../../ports/evidence-signer.ts";
import type { IndexReader } from "../../../ports/index/index-reader.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import {
  type EvidenceReferences,
  type MerchantStanding,
  referencesOf,
} from "./evidence-references.ts";
import { SettledPackets } from "../../../ports/settled-packets.ts";
import { type KeptEvidence, readStoredPacket, storedPacketText } from "./stored-packet.ts";
import { makeSingleFlight, monotonicMs } from "../single-flight.ts";
import { decodeArchivedEscrowAccount } from "../../protocol/accounts/archived-escrow-account.ts";
import { encodeEscrowAccount } from "../../protocol/accounts/escrow-account.ts";
import { CUSTODY_CONSTANTS } from "../../protocol/generated/custody.ts";
import { type LiveMerchant, readMerchant } from "../merchant/read-merchant.ts";

/** How long a packet may omit that its escrow was archived, milliseconds. */
export const ARCHIVAL_FRESH_MS = 60_000;
/**
 * An escrow is archived seven days after its settlement at the earliest. One hour less, because the ledger's clock may
 * jump.
 */
const ARCHIVED_AFTER_SECONDS = BigInt(CUSTODY_CONSTANTS.ARCHIVE_DELAY_SECONDS - 3600);

/**
 * Packets kept: at least this many, at most twice as many. One takes 12 KB with its text, all of them at most 50 MB.
 */
const PACKETS = 2000;
/** The same for merchants, at less than 1 KB each. */
const MERCHANTS = 2000;
/** The oldest merchant state that a packet may show, milliseconds. */
export const STANDING_FRESH_MS = 5000;

/**
 * The packets of settled escrows that this process keeps. A settled escrow never changes, and Ed25519 signs the same
 * bytes in the same way, so `data` and `signature` are built once. Only accounts read at `finalized` are kept, never
 * rows of the index: somebody who can write to the store cannot have evidence signed.
 */
export class SettledEvidence extends Context.Service<
  SettledEvidence,
  {
    /** The kept evidence of a settled escrow, undefined when there is none. */
    readonly find: (escrow: string) => KeptEvidence | undefined;
    readonly keep: (evidence: KeptEvidence) => void;
    /** Also writes it to `SettledPackets`. Does not wait for the write. A failure is logged. */
    readonly store: (evidence: KeptEvidence) => Effect.Effect<void>;
    /**
     * The escrow whose packet, of those that `SettledPackets` keeps, has this digest; null without one, and while the
     * store does not answer.
     */
    readonly escrowOf: (digest: Hash32) => Effect.Effect<Address | null>;
    /**
     * Reads the evidence of a settled escrow, signed with `key`, from `SettledPackets`; undefined when there is none.
     * The packet gets the newest known state of its merchant. Afterwards `find` returns it.
     */
    readonly restore: (
      escrow: Address,
      network: EvidenceNetwork,
      key: EvidenceKey,
    ) => Effect.Effect<KeptEvidence | undefined>;
    /**
     * A merchant's state on the ledger, read at most `STANDING_FRESH_MS` ago. When the ledger does not answer within
     * `STANDING_PATIENCE_MS`, the last known state; null when its account could never be read. Returns the same object
     * until the state changes.
     */
    readonly standingOf: (wallet: Address) => Effect.Effect<MerchantStanding | null>;
    /** Takes note of a merchant's state that was read just now, and of the ledger's clock at that read. */
    readonly showStanding: (
      wallet: Address,
      merchant: Merchant,
      ledgerTime: UnixSeconds,
    ) => Effect.Effect<void>;
    /** How long ago the known state of a merchant was read, milliseconds; 0 when none is known. */
    readonly standingAgeMs: (wallet: Address) => Effect.Effect<number>;
    /**
     * The digest in a settled escrow's tombstone, as the ledger showed it at most `ARCHIVAL_FRESH_MS` ago; null when it
     * is not archived or could not be read.
     */
    readonly archivalOf: (escrow: Escrow) => Effect.Effect<EvidenceReferences["archived"]>;
  }
>()("settlement-evidence/core/use-cases/SettledEvidence") {}

/** The ledger's clock as it was read last. */
type ClockReading = { readonly ledgerTime: UnixSeconds; readonly atMs: number };

/** A merchant's state, when it was read, and when the ledger was last asked for it, even without an answer. */
type Asked = {
  readonly standing: MerchantStanding | null;
  readonly atMs: number;
  readonly askedMs: number;
};

/** How long a packet waits for a newer state of its merchant when one is known, milliseconds. */
export const STANDING_PATIENCE_MS = 200;

const isSame = (one: MerchantStanding | null, other: MerchantStanding | null): boolean =>
  one?.name === other?.name &&
  one?.status === other?.status &&
  one?.currentAttestor === other?.currentAttestor;

/** Kept evidence that shows another state of its merchant. */
const withStanding = (evidence: KeptEvidence, merchant: MerchantStanding | null): KeptEvidence => ({
  ...evidence,
  packet: {
    ...evidence.packet,
    references: referencesOf(evidence.escrow, { ...evidence.packet.references, merchant }),
  },
});

/** A merchant as the ledger shows it, null when its account could not be read. */
const readLiveMerchant = (wallet: Address) =>
  readMerchant(wallet, "finalized").pipe(Effect.orElseSucceed(() => null));

const standingOfMerchant = ({ name, status, attestor }: Merchant): MerchantStanding => ({
  name,
  status,
  currentAttestor: attestor,
});

const standingIn = (live: LiveMerchant | null): MerchantStanding | null =>
  live === null ? null : standingOfMerchant(live.merchant);

/** A merchant's present state on the ledger, null when its account could not be read. */
export const readStanding = (wallet: Address) => Effect.map(readLiveMerchant(wallet), standingIn);

/**
 * The digest in the tombstone at a settled escrow's address, null when there is none or it could not be read. A
 * tombstone whose digest is not that of the escrow's bytes counts as none: the node that shows it lies.
 */
const readArchival = Effect.fnUntraced(
  function* (escrow: Escrow) {
    const ledger = yield* Ledger;
    const { deployment } = yield* Instance;
    const { value } = yield* ledger.readAccounts([escrow.address], "finalized");
    const account = value[0] ?? null;
    const decoded = account === null ? null : decodeArchivedEscrowAccount(account, deployment);
    if (decoded === null || "fault" in decoded) return null;
    const digest = hash32FromBytes(sha256(encodeEscrowAccount(escrow)));
    return decoded.value.lastHash === digest ? { digest } : null;
  },
  Effect.orElseSucceed(() => null),
);

/** The process's one `SettledEvidence`. Its reads of the ledger end with the scope. */
export const makeSettledEvidence = Effect.gen(function* () {
  const scope = yield* Effect.scope;
  const context = yield* Effect.context<Ledger | Instance | IndexReader>();
  const packets = new RecentlyUsed<string, KeptEvidence>(PACKETS);
  const merchants = new RecentlyUsed<Address, Asked>(MERCHANTS);
  const once = makeSingleFlight<MerchantStanding | null, never>(scope);
  /** When each escrow's account was last read without a tombstone, milliseconds. */
  const unarchived = new RecentlyUsed<Address, number>(PACKETS);
  let clock: ClockReading | null = null;

  const ask = Effect.fnUntraced(function* (wallet: Address, before: Asked | undefined) {
    const atMs = yield* monotonicMs;
    // While the ledger does not answer, callers get the last known state.
    if (before !== undefined) merchants.set(wallet, { ...before, askedMs: atMs });
    const read = yield* Effect.result(readMerchant(wallet, "finalized"));
    const isSilent =
      read._tag === "Failure" &&
      (read.failure._tag === "LedgerUnavailable" || read.failure._tag === "LedgerTimeout");
    if (isSilent && before !== undefined) return before.standing;
    const live = read._tag === "Success" ? read.success : null;
    if (live !== null) clock = { ledgerTime: live.ledgerTime, atMs };
    const newStanding = standingIn(live);
    const lastStanding = before?.standing ?? null;
    const standing = isSame(newStanding, lastStanding) ? lastStanding : newStanding;
    if (!isSilent) merchants.set(wallet, { standing, atMs, askedMs: atMs });
    return standing;
  }, Effect.provide(context));

  const outside = yield* SettledPackets;

  return SettledEvidence.of({
    find: (escrow) => packets.get(escrow),
    keep: (evidence) => packets.set(evidence.escrow.address, evidence),
    escrowOf: (digest) => Effect.orElseSucceed(outside.escrowOf(digest), () => null),
    store: Effect.fnUntraced(function* (evidence) {
      const reading = merchants.get(evidence.escrow.merchant);
      const nowMs = yield* monotonicMs;
      const ageMs = reading === undefined ? 0 : Math.max(0, nowMs - reading.atMs);
      const standingAtMs = (yield* Clock.currentTimeMillis) - ageMs;
      const text = storedPacketText({ known: evidence, standingAtMs });
      const digest = parseHash32(evidence.packet.signature.digest_sha256);
      if (text === null || digest === undefined) return;
      const writing = outside
        .keep(evidence.escrow.address, text, digest)
        .pipe(Effect.catch(({ cause }) => Effect.logDebug("a packet was not kept", { cause })));
      yield* Effect.forkIn(writing, scope, { startImmediately: true });
    }),
    restore: Effect.fnUntraced(function* (escrow, network, key) {
      const text = yield* Effect.orElseSucceed(outside.find(escrow), () => null);
      const stored = text === null ? undefined : readStoredPacket(text, escrow, network, key);
      if (stored === undefined) return undefined;
      const { known: evidence, standingAtMs } = stored;
      const nowMs = yield* monotonicMs;
      const ageMs = Math.max(0, (yield* Clock.currentTimeMillis) - standingAtMs);
      const { merchant } = evidence.escrow;
      const reading = merchants.get(merchant);
      const kept = {
        standing: evidence.packet.references.merchant,
        atMs: nowMs - ageMs,
        askedMs: nowMs,
      };
      // The header `age` is that of the newest state, so the packet must show that state.
      const newest = reading !== undefined && reading.atMs >= kept.atMs ? reading : kept;
      merchants.set(merchant, newest);
      const restored = withStanding(evidence, newest.standing);
      packets.set(escrow, restored);
      return restored;
    }),
    archivalOf: (escrow) =>
      Effect.flatMap(monotonicMs, (nowMs) => {
        const { address, settledAt } = escrow;
        // Without a reading of the clock, the ledger is asked.
        const ledgerTime =
          clock && clock.ledgerTime + BigInt(Math.floor((nowMs - clock.atMs) / 1000));
        if (ledgerTime !== null && ledgerTime < (settledAt ?? 0n) + ARCHIVED_AFTER_SECONDS)
          return Effect.succeed(null);
        const readMs = unarchived.get(address);
        if (readMs !== undefined && nowMs - readMs < ARCHIVAL_FRESH_MS) return Effect.succeed(null);
        unarchived.set(address, nowMs);
        return readArchival(escrow).pipe(Effect.provide(context));
      }),
    standingOf: (wallet) =>
      Effect.flatMap(monotonicMs, (nowMs) => {
        const reading = merchants.get(wallet);
        if (reading !== undefined && nowMs - reading.askedMs < STANDING_FRESH_MS)
          return Effect.succeed(reading.standing);
        const asking = once(wallet, ask(wallet, reading));
        if (reading === undefined) return asking;
        return Effect.map(Effect.timeoutOption(asking, STANDING_PATIENCE_MS), (newer) =>
          newer._tag === "Some" ? newer.value : reading.standing,
        );
      }),
    showStanding: (wallet, merchant, ledgerTime) =>
      Effect.map(monotonicMs, (atMs) => {
        clock = { ledgerTime, atMs };
        const known = merchants.get(wallet)?.standing ?? null;
        const shown = standingOfMerchant(merchant);
        const standing = isSame(shown, known) ? known : shown;
        merchants.set(wallet, { standing, atMs, askedMs: atMs });
      }),
    standingAgeMs: (wallet) =>
      Effect.map(monotonicMs, (nowMs) => {
        const reading = merchants.get(wallet);
        return reading === undefined ? 0 : Math.max(0, nowMs - reading.atMs);
      }),
  });
});
