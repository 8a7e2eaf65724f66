import { Duration, Effect, Semaphore } from "effect";
import { type Hash32, hash32FromBytes } from "../../../domain/hash32.ts";
import type { SyncMark } from "../../../domain/index/sync-report.ts";
import { rootOf } from "../../../log/tree/frontier.ts";
import { verifyConsistency } from "../../../log/tree/tree-proofs.ts";
import type { LogKey, SigningKey } from "../../../../ports/log/log-signer.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { checkLeaves, type NodeAgreement } from "./node-agreement.ts";
import { beginTree, type GrowingTree } from "./growing-tree.ts";
import {
  ENDED_BY_OPERATOR,
  isForkOf,
  isSameHead,
  type LogStanding,
  parseLogStanding,
  printLogStanding,
  type SignedHead,
  signingKeysOf,
} from "../log-standing.ts";
import { monotonicMs } from "../../single-flight.ts";
import {
  furtherAlong,
  isSameKeys,
  isSameRotation,
  isSignedBy,
  type KeyRotation,
  keysIn,
  rotatedBy,
} from "./key-rotation.ts";
import { faultOfKeys, type OpenLog, signCheckpoint } from "./open-log.ts";
import { type LogTree, readConsistencyProof, readRoot } from "../read-tree.ts";

/** Reads the nodes, where there are several. */
type ReadNodes = Effect.Effect<void>;

/** With one node, the index must contradict what was signed for this long before the log ends: a wrong read passes. */
const CONTRADICTED_FOR_MS = Duration.toMillis(Duration.minutes(5));

/** Whether a tree that was grown to a mark has its root. */
const isAt = (growing: GrowingTree, mark: SyncMark): boolean =>
  hash32FromBytes(growing.head().root) === rootOf(mark);

/** A log that this process signs. */
export class SigningLog {
  readonly origin: string;
  readonly tree: LogTree;
  /** The size and root signed last, null before the first. */
  last: SignedHead | null;
  /** Null until everything signed has been derived again, and after a failure. */
  growing: GrowingTree | null = null;
  isEnded: boolean;
  /** When a head was signed that is not the one before, in monotonic milliseconds. */
  signedAtMs = -Infinity;
  /** Since when the index contradicts what was signed, in monotonic milliseconds; null while it does not. */
  contradictedSinceMs: number | null = null;
  #remembered: SignedHead | null;
  /** The log's keys; null until something is signed. */
  #rotation: KeyRotation | null;
  /** The keys that this process had when it last looked, and those of them that sign the log. */
  #own: ReadonlyArray<Hash32> = [];
  #signers: ReadonlyArray<SigningKey> = [];
  /** Whether the file beside the key has the same rotation. */
  #isRemembered = false;
  #isEndOrdered = false;

  /** Held while this process replaces the standing: it signs and publishes side by side. */
  readonly #replacing = Semaphore.makeUnsafe(1);
  readonly #key: LogKey;
  readonly #open: OpenLog;

  constructor(key: LogKey, networkLeaf: Uint8Array, open: OpenLog) {
    const { origin, generation, stored, remembered, last } = open;
    this.#key = key;
    this.#open = open;
    this.origin = origin;
    this.tree = { networkLeaf, generation };
    this.#remembered = remembered;
    const isAhead = stored === null || (remembered !== null && !isForkOf(remembered, stored));
    this.last = isAhead ? remembered : stored;
    this.isEnded = last !== null && last.ended !== null;
    this.#rotation = last;
  }

  /** The standing of this log in the store, null when that is another log's or none, and the text that it stands in. */
  readonly standing = Effect.gen({ self: this }, function* () {
    const store = yield* LogStore;
    const text = yield* store.standing;
    const value = text === null ? undefined : parseLogStanding(text);
    return { text, value: value?.signed.origin === this.origin ? value : null };
  });

  /**
   * The root at a size up to the growing tree's, 32 bytes, proved to belong to that tree. Fails where it does not: the
   * store's leaves are other ones than those that the tree grew from.
   */
  rootAt(growing: GrowingTree, size: number) {
    return Effect.gen({ self: this }, function* () {
      const head = growing.head();
      if (size === head.size) return head.root;
      const root = yield* readRoot(this.tree, size);
      const proof = yield* readConsistencyProof(this.tree, size, head.size);
      if (verifyConsistency({ size, root }, head, proof)) return root;
      this.growing = null;
      const cause = `the store's leaves give another root at size ${size} than they did before`;
      return yield* new StoreUnavailable({ retryable: true, cause });
    });
  }

  /**
   * Reads the store's standing and the process's keys, and takes part in a rotation of the log's, in the store and
   * beside the key. Says whether other keys sign from now on, and whether one of the log's is missing here: with none,
   * nothing may be signed.
   */
  readonly takeKeys = Effect.gen({ self: this }, function* () {
    const keys = yield* this.#key.keys;
    const [first, ...others] = keys;
    const own = [hash32FromBytes(first.publicKey), ...keysIn(others)] as const;
    this.#isEndOrdered = (yield* this.#key.endOrdered) === this.origin;
    const { text, value } = yield* this.standing;
    const known = furtherAlong(this.#rotation, value);
    const isUsable =
      faultOfKeys(
        this.origin,
        keys.map(({ publicKey }) => publicKey),
      ) === null;
    const isPublished = (key: Hash32): boolean =>
      value === null || value.published === null || isSignedBy(value.published, this.origin, key);
    const isFixed = this.isEnded || (value?.ended ?? null) !== null || !isUsable;
    const next = known !== null && isFixed ? known : rotatedBy(known, own, isPublished);
    const standing = value && { ...value, ...next };
    if (value !== null && standing !== null && !isSameRotation(value, next))
      yield* this.#replace(text, standing);
    if (!this.#isRemembered || this.#rotation === null || !isSameRotation(this.#rotation, next)) {
      this.#isRemembered = false;
      const beside = yield* this.#besideKey;
      if (beside.standing !== null && !isSameRotation(beside.standing, next))
        yield* this.#remember(beside.text, { ...beside.standing, ...next });
      this.#isRemembered = true;
    }
    this.#rotation = next;
    this.#own = own;
    const wanted = signingKeysOf(next);
    const signers = keys.filter(({ publicKey }) => wanted.includes(hash32FromBytes(publicKey)));
    const before = this.#signers;
    this.#signers = signers;
    return {
      value: standing,
      isChanged: before.length > 0 && !isSameKeys(keysIn(before), keysIn(signers)),
      lack: signers.length === 0 ? "all" : signers.length < wanted.length ? "one" : null,
    } as const;
  }).pipe((work) => this.#replacing.withPermit(work));

  /** Whether its operator has begun or ended a rotation, or ordered its end, since this process last looked. */
  readonly hasOrders = Effect.gen({ self: this }, function* () {
    const own = keysIn(yield* this.#key.keys);
    const isEndOrdered = (yield* this.#key.endOrdered) === this.origin;
    return !isSameKeys(own, this.#own) || (isEndOrdered && !this.#isEndOrdered);
  }).pipe(Effect.orElseSucceed(() => false));

  /** Whether its operator wants it ended, and it goes on. */
  get isToEnd(): boolean {
    return this.#isEndOrdered && !this.isEnded;
  }

  /** Publishes the note that `noteFor` makes for the standing, unless it makes none; says whether it does. */
  publish(noteFor: (standing: LogStanding) => string | null) {
    const published = Effect.gen({ self: this }, function* () {
      const { text, value } = yield* this.standing;
      const note = value === null ? null : noteFor(value);
      if (value === null || note === null) return false;
      if (note !== value.published) yield* this.#replace(text, { ...value, published: note });
      return true;
    });
    return this.#replacing.withPermit(published);
  }

  /**
   * The text beside the key, the standing that it holds of this log, and the head that was signed; null for none.
   * Another process may have written it.
   */
  get #besideKey() {
    return Effect.map(this.#key.remembered, (text) => {
      const value = text === null ? undefined : parseLogStanding(text);
      const standing = value?.signed.origin === this.origin ? value : null;
      return { text, standing, head: standing?.signed ?? null };
    });
  }

  /**
   * Writes a standing beside the key, in place of a text. Another process's write in between is a failure that passes.
   */
  #remember(before: string | null, next: LogStanding) {
    return Effect.gen({ self: this }, function* () {
      if (!(yield* this.#key.remember(before, printLogStanding(next)))) {
        const cause = "another process signs with the log's key";
        return yield* new StoreUnavailable({ retryable: true, cause });
      }
      this.#remembered = next.signed;
    });
  }

  /**
   * Takes back from the store a standing whose head was not signed, because another process wrote to the key's file
   * first. The head that the other process signed is then the last one of this log, and the tree is derived again to
   * compare it with the leaves. A store that had no standing gets one with that head. Where the file has no new head,
   * nothing changes.
   */
  #takeBack(before: string | null, next: LogStanding) {
    return Effect.gen({ self: this }, function* () {
      const { head } = yield* this.#besideKey;
      if (head === null || isSameHead(head, this.#remembered)) return;
      const earlier = before ?? printLogStanding({ ...next, signed: head });
      const store = yield* LogStore;
      yield* store.replaceStanding(printLogStanding(next), earlier);
      this.#remembered = head;
      if (head.size > (this.last?.size ?? 0)) this.last = head;
      this.growing = null;
    });
  }

  /** Replaces the standing. Another process's write in between is a failure that passes. */
  #replace(before: string | null, next: LogStanding) {
    return Effect.gen({ self: this }, function* () {
      const store = yield* LogStore;
      if (yield* store.replaceStanding(before, printLogStanding(next))) return;
      const cause = "another process signs the log";
      return yield* new StoreUnavailable({ retryable: true, cause });
    });
  }

  /**
   * Signs a head: it stands in the store first, then beside the key, both durably. So no later process signs another
   * root of its size, whenever this one stops. A smaller size than was signed, and another root of that size, are
   * failures.
   */
  sign(head: SignedHead) {
    const work = Effect.gen({ self: this }, function* () {
      const { text, value } = yield* this.standing;
      const { last } = this;
      const remembered = isSameHead(this.#remembered, head) ? null : yield* this.#besideKey;
      if (
        [last, value?.signed ?? null, remembered?.head ?? null].some((before) =>
          isForkOf(head, before),
        )
      )
        return yield* new StoreUnavailable({
          retryable: true,
          cause: `size ${head.size} is not signed: a larger size was signed, or another root of it`,
        });
      const next = this.#standingOf(head, value, head.isLast ? ENDED_BY_OPERATOR : null);
      if (!isSameHead(value?.signed ?? null, head)) yield* this.#replace(text, next);
      if (remembered !== null)
        yield* Effect.tapError(this.#remember(remembered.text, next), () =>
          this.#takeBack(text, next),
        );
      if (!isSameHead(last, head)) this.signedAtMs = yield* monotonicMs;
      this.last = head;
      this.isEnded ||= head.isLast === true;
      return yield* signCheckpoint(this.#signers, head);
    });
    return this.#replacing.withPermit(work);
  }

  /** Ends the log: nothing more is signed. What is noted beside its key keeps a next process from starting with it. */
  end(signed: SignedHead, cause: string) {
    const work = Effect.gen({ self: this }, function* () {
      const { text, value } = yield* this.standing;
      const ended = this.#standingOf(signed, value, cause);
      yield* this.#remember((yield* this.#besideKey).text, ended);
      yield* this.#replace(text, ended);
      this.isEnded = true;
      this.growing = null;
      yield* Effect.logError("the settlement log has ended; nothing more is signed for it", {
        origin: this.origin,
        size: signed.size,
        cause,
      });
    });
    return this.#replacing.withPermit(work);
  }

  /**
   * Takes over what other processes did to the store's standing. A standing that is older than what was signed, as in a
   * restored store, has everything derived from the leaves again.
   */
  compare(stored: LogStanding | null) {
    return Effect.gen({ self: this }, function* () {
      const { last } = this;
      const head = stored?.signed ?? null;
      if (stored !== null && stored.ended !== null) {
        this.isEnded = true;
        if (stored.signed.isLast && !isSameHead(this.#remembered, stored.signed)) {
          this.last = stored.signed;
          yield* this.#remember((yield* this.#besideKey).text, stored);
        }
        return;
      }
      if (isSameHead(head, last)) return;
      // A store of before the log's end: what stands beside the key is later.
      if (last?.isLast) return yield* this.#endAgain(last);
      if (head !== null && head.size === last?.size)
        return yield* this.end(last, `two roots were signed at size ${last.size}`);
      this.growing = null;
      if (stored === null || stored.signed.size <= (last?.size ?? 0)) return;
      const remembered = yield* this.#besideKey;
      if (!isForkOf(stored.signed, remembered.head)) yield* this.#remember(remembered.text, stored);
      this.last = stored.signed;
    });
  }

  /** Notes the log's last head in a store that does not have it. */
  #endAgain(last: SignedHead) {
    const work = Effect.gen({ self: this }, function* () {
      const { text, value } = yield* this.standing;
      yield* this.#replace(text, this.#standingOf(last, value, ENDED_BY_OPERATOR));
    });
    return this.#replacing.withPermit(work);
  }

  /**
   * Grows the tree to a mark, whose root its leaves must give; null when that cannot be yet, or the log ended. What was
   * signed is derived again first. `agreement` is null with one node, otherwise what `readNodes` has read.
   */
  growTo(
    mark: SyncMark,
    stored: SignedHead | null,
    agreement: NodeAgreement | null,
    readNodes: ReadNodes,
  ) {
    return Effect.gen({ self: this }, function* () {
      const size = Number(mark.count) + 1;
      if (this.growing === null) {
        if (size < (this.last?.size ?? 1)) return null;
        agreement?.begin();
        this.growing = yield* this.#derive(stored);
      }
      const { growing } = this;
      if (growing !== null) {
        yield* growing.growTo(size);
        if (isAt(growing, mark)) {
          this.contradictedSinceMs = null;
          return growing;
        }
      }
      // The kept tiles are damaged, or the store holds another history than before. Its leaves decide.
      agreement?.begin();
      yield* readNodes;
      this.growing = yield* this.#deriveFromLeaves(mark, agreement);
      return this.growing;
    });
  }

  /** The tree at the size signed last, from the kept tiles; null when they do not give it. */
  #derive(stored: SignedHead | null) {
    return Effect.gen({ self: this }, function* () {
      const { last, tree } = this;
      if (last === null) return yield* beginTree(tree, 0);
      // An older store lacks tiles that a checkpoint covers already.
      if (!isSameHead(stored, last)) return null;
      const remembered = this.#remembered;
      if (remembered !== null && remembered.size <= last.size) {
        const root = yield* readRoot(tree, remembered.size);
        if (hash32FromBytes(root) !== remembered.root) return null;
      }
      const kept = yield* beginTree(tree, last.size);
      return hash32FromBytes(kept.head().root) === last.root ? kept : null;
    });
  }

  /**
   * Whether the leaves, which contradict a signed head, are the ledger's: two of several nodes show their root, or the
   * only node still does after five minutes.
   */
  #isConfirmed({ size }: SignedHead, agreement: NodeAgreement | null) {
    return Effect.map(monotonicMs, (nowMs) => {
      this.contradictedSinceMs ??= nowMs;
      return agreement === null
        ? nowMs - this.contradictedSinceMs >= CONTRADICTED_FOR_MS
        : (agreement.agreed() ?? 0) >= size;
    });
  }

  /**
   * The tree at a mark from the leaves alone, with every tile to be kept anew. Ends the log when the ledger gives
   * another root.
   */
  #deriveFromLeaves(mark: SyncMark, agreement: NodeAgreement | null) {
    return Effect.gen({ self: this }, function* () {
      const { last, tree } = this;
      const size = Number(mark.count) + 1;
      const heads = [this.#remembered, last]
        .filter((head) => head !== null)
        .filter((head) => head.size <= size)
        .toSorted((a, b) => a.size - b.size);
      const verdict = yield* checkLeaves(tree, size, heads, agreement?.sizesTo(size) ?? []);
      if (verdict.roots.get(size) !== rootOf(mark))
        return yield* new StoreUnavailable({
          retryable: true,
          cause: `the store's leaves do not give the root after event ${mark.count}`,
        });
      agreement?.compare(verdict.roots);
      if (verdict.contradicted !== null) {
        const { contradicted, firstDifference } = verdict;
        if (!(yield* this.#isConfirmed(contradicted, agreement))) return null;
        const first =
          firstDifference === null ? "" : `; the first leaf that differs is ${firstDifference}`;
        const cause = `the ledger's events give another root at size ${contradicted.size} than was signed${first}`;
        yield* this.end(last ?? contradicted, cause);
        return null;
      }
      this.contradictedSinceMs = null;
      if (last !== null && last.size > size) return null;
      const anew = yield* beginTree(tree, 0);
      yield* anew.growTo(size);
      if (isAt(anew, mark)) return anew;
      const cause = "the store's leaves changed while the tree was made of them";
      return yield* new StoreUnavailable({ retryable: true, cause });
    });
  }

  #standingOf(signed: SignedHead, value: LogStanding | null, ended: string | null): LogStanding {
    const { predecessors } = this.#open;
    const rotation = this.#rotation ?? value;
    if (rotation === null) throw new Error("a log signs before its keys are taken");
    const { publicKey, nextKey, retiredKeys } = rotation;
    const published = value?.published ?? null;
    return { signed, publicKey, nextKey, retiredKeys, published, ended, predecessors };
  }
}
