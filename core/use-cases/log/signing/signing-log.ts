import { Duration, Effect } from "effect";
import { hash32FromBytes } from "../../../domain/hash32.ts";
import type { SyncMark } from "../../../domain/index/sync-report.ts";
import { rootOf } from "../../../log/tree/frontier.ts";
import { verifyConsistency } from "../../../log/tree/tree-proofs.ts";
import type { LogKey } from "../../../../ports/log/log-signer.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { checkLeaves, type NodeAgreement } from "./node-agreement.ts";
import { beginTree, type GrowingTree, keptTree } from "./growing-tree.ts";
import {
  ENDED_BY_OPERATOR,
  isForkOf,
  isSameHead,
  type LogStanding,
  printLogStanding,
  type SignedHead,
} from "../log-standing.ts";
import { monotonicMs } from "../../single-flight.ts";
import { KeptStanding } from "./kept-standing.ts";
import { type OpenLog, signCheckpoint } from "./open-log.ts";
import { rotationIn } from "./key-rotation.ts";
import { SigningKeys } from "./signing-keys.ts";
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
  readonly kept: KeptStanding;
  readonly keys: SigningKeys;
  readonly #predecessors: OpenLog["predecessors"];

  constructor(key: LogKey, networkLeaf: Uint8Array, open: OpenLog) {
    const { origin, generation, stored, remembered, last } = open;
    this.kept = new KeptStanding(key, origin, remembered);
    this.keys = new SigningKeys(key, this.kept, last);
    this.#predecessors = open.predecessors;
    this.origin = origin;
    this.tree = { networkLeaf, generation };
    const isAhead = stored === null || (remembered !== null && !isForkOf(remembered, stored));
    this.last = isAhead ? remembered : stored;
    this.isEnded = last !== null && last.ended !== null;
  }

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

  /** Whether its operator wants it ended, and it goes on. */
  get isToEnd(): boolean {
    return this.keys.isEndOrdered && !this.isEnded;
  }

  /**
   * Takes back from the store a standing whose head was not signed, because another process wrote to the key's file
   * first. The head that the other process signed is then the last one of this log, and the tree is derived again to
   * compare it with the leaves. A store that had no standing gets one with that head. Where the file has no new head,
   * nothing changes.
   */
  #takeBack(before: string | null, next: LogStanding) {
    return Effect.gen({ self: this }, function* () {
      const { head } = yield* this.kept.besideKey;
      if (head === null || isSameHead(head, this.kept.remembered)) return;
      const earlier = before ?? printLogStanding({ ...next, signed: head });
      const store = yield* LogStore;
      yield* store.replaceStanding(printLogStanding(next), earlier);
      this.kept.remembered = head;
      if (head.size > (this.last?.size ?? 0)) this.last = head;
      this.growing = null;
    });
  }

  /**
   * Signs a head: it stands in the store first, then beside the key, both durably. So no later process signs another
   * root of its size, whenever this one stops. A smaller size than was signed, and another root of that size, are
   * failures.
   */
  sign(head: SignedHead) {
    const work = Effect.gen({ self: this }, function* () {
      const { text, value } = yield* this.kept.inStore;
      const { last } = this;
      const remembered = isSameHead(this.kept.remembered, head) ? null : yield* this.kept.besideKey;
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
      if (!isSameHead(value?.signed ?? null, head)) yield* this.kept.replace(text, next);
      if (remembered !== null)
        yield* Effect.tapError(this.kept.remember(remembered.text, next), () =>
          this.#takeBack(text, next),
        );
      if (!isSameHead(last, head)) this.signedAtMs = yield* monotonicMs;
      this.last = head;
      this.isEnded ||= head.isLast === true;
      return yield* signCheckpoint(this.keys.signers, head);
    });
    return this.kept.inTurn(work);
  }

  /** Ends the log: nothing more is signed. What is noted beside its key keeps a next process from starting with it. */
  end(signed: SignedHead, cause: string) {
    const work = Effect.gen({ self: this }, function* () {
      const { text, value } = yield* this.kept.inStore;
      const ended = this.#standingOf(signed, value, cause);
      yield* this.kept.remember((yield* this.kept.besideKey).text, ended);
      yield* this.kept.replace(text, ended);
      this.isEnded = true;
      this.growing = null;
      yield* Effect.logError("the settlement log has ended; nothing more is signed for it", {
        origin: this.origin,
        size: signed.size,
        cause,
      });
    });
    return this.kept.inTurn(work);
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
        if (stored.signed.isLast && !isSameHead(this.kept.remembered, stored.signed)) {
          this.last = stored.signed;
          yield* this.kept.remember((yield* this.kept.besideKey).text, stored);
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
      const remembered = yield* this.kept.besideKey;
      if (!isForkOf(stored.signed, remembered.head))
        yield* this.kept.remember(remembered.text, stored);
      this.last = stored.signed;
    });
  }

  /** Notes the log's last head in a store that does not have it. */
  #endAgain(last: SignedHead) {
    const work = Effect.gen({ self: this }, function* () {
      const { text, value } = yield* this.kept.inStore;
      yield* this.kept.replace(text, this.#standingOf(last, value, ENDED_BY_OPERATOR));
    });
    return this.kept.inTurn(work);
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
        // An older store lacks tiles that a checkpoint covers already.
        const isCovered = this.last === null || isSameHead(stored, this.last);
        this.growing = isCovered
          ? yield* keptTree(this.tree, this.last, this.kept.remembered)
          : null;
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
      const heads = [this.kept.remembered, last]
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
    const predecessors = this.#predecessors;
    const rotation = this.keys.rotation ?? value;
    if (rotation === null) throw new Error("a log signs before its keys are taken");
    const published = value?.published ?? null;
    return { signed, ...rotationIn(rotation), published, ended, predecessors };
  }
}
