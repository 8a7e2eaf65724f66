import { Effect, Queue, Stream } from "effect";
import type { AccountKind } from "../../../core/domain/ledger/account-kind.ts";
import { encodeBase58 } from "../../../core/domain/encoding/base58.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import type { AtSlot, LedgerFailure } from "../../../ports/ledger.ts";
import type { NodePool } from "../pool/node-pool.ts";
import { refusalAsUnavailable } from "../pool/refusal-as-unavailable.ts";
import { NodeFault, NodeUnable, RpcRefusal } from "../transport/rpc-failure.ts";

const CHUNK_ACCOUNTS = 1000;
/** Above this number of accounts, the next scan of a kind is split. */
const SPLIT_ABOVE = 200_000;
/** Parts of a split scan requested at the same time. Public nodes limit requests. */
const PARTS_AT_ONCE = 2;

type Chunk = AtSlot<ReadonlyArray<LedgerAccount>>;

/** A filter for accounts with these bytes at `offset` (Agave `rpc-client-types`, `RpcFilterType::Memcmp`). */
const bytesAt = (offset: number, bytes: Uint8Array) => ({
  memcmp: { offset, bytes: encodeBase58(bytes) },
});

/** The filters for the accounts of a kind. A node accepts up to four. */
const filtersOf = ({ length, discriminator }: AccountKind): ReadonlyArray<object> => [
  { dataSize: length },
  bytesAt(0, discriminator),
];

/** Whether a node's failure may come from the size of the answer or of the scan. */
const maySizeMatter = (failure: LedgerFailure): boolean => {
  if (failure._tag === "LedgerTimeout") return true;
  const { cause } = failure;
  if (cause instanceof NodeFault) return cause.kind === "oversize" || cause.kind === "unwell";
  if (cause instanceof NodeUnable) return cause.kind !== "behind";
  return cause instanceof RpcRefusal;
};

/**
 * `Ledger.programAccounts` over a pool of nodes. One request while the accounts are few. When the last scan found many,
 * or when nodes cannot return all at once, one request for each value of the byte at `splitAt`.
 */
export const programAccounts = (pool: NodePool["Service"]) => {
  /** Kinds with many accounts, by program and discriminator. */
  const large = new Set<string>();

  const scan = Effect.fn("Ledger.programAccounts")(function* (
    kind: AccountKind,
    part: ReadonlyArray<object>,
    lowest: number,
    emit: (chunk: Chunk) => Effect.Effect<void>,
  ) {
    const options = {
      encoding: "base64",
      withContext: true,
      commitment: "finalized",
      ...(lowest > 0 ? { minContextSlot: lowest } : {}),
      filters: [...filtersOf(kind), ...part],
    };
    const slot = yield* pool.scan([kind.program, options], {
      judge: (slot) => pool.slots.judge(lowest, slot),
      chunkAccounts: CHUNK_ACCOUNTS,
      emit,
    });
    pool.slots.saw("finalized", slot);
  }, refusalAsUnavailable);

  const streamed = (
    kind: AccountKind,
    lowest: number,
    part: ReadonlyArray<object> = [],
  ): Stream.Stream<Chunk, LedgerFailure> =>
    Stream.callback<Chunk, LedgerFailure>(
      (queue) =>
        Effect.matchCauseEffect(
          scan(kind, part, lowest, (chunk) => Queue.offer(queue, chunk)),
          {
            onSuccess: () => Queue.end(queue),
            onFailure: (cause) => Queue.failCause(queue, cause),
          },
        ),
      // One chunk waits while another is applied, so the node is read no faster than the store writes.
      { bufferSize: 1, strategy: "suspend" },
    );

  return (kind: AccountKind, notBefore?: bigint): Stream.Stream<Chunk, LedgerFailure> => {
    const { program, discriminator, splitAt } = kind;
    const lowestNow = () => pool.slots.boundsOf("finalized", [], notBefore).absent;
    const name = `${program} ${encodeBase58(discriminator)}`;
    const whole = Stream.suspend(() => {
      let accounts = 0;
      return streamed(kind, lowestNow()).pipe(
        Stream.tap(({ value }) => Effect.sync(() => void (accounts += value.length))),
        Stream.onEnd(Effect.sync(() => void (accounts > SPLIT_ABOVE && large.add(name)))),
      );
    });
    if (splitAt === undefined) return whole;
    const parts = Stream.range(0, 255).pipe(
      Stream.flatMap(
        (value) => streamed(kind, lowestNow(), [bytesAt(splitAt, Uint8Array.of(value))]),
        {
          concurrency: PARTS_AT_ONCE,
          bufferSize: 1,
        },
      ),
    );
    return Stream.suspend(() => {
      if (large.has(name)) return parts;
      return Stream.catchIf(whole, maySizeMatter, () => {
        large.add(name);
        return parts;
      });
    });
  };
};
