import { Effect, Queue, Stream } from "effect";
import type { Address } from "../../core/domain/address.ts";
import { encodeBase58 } from "../../core/domain/base58.ts";
import type { LedgerAccount } from "../../core/domain/ledger-account.ts";
import type { AtSlot, LedgerFailure } from "../../ports/ledger.ts";
import type { NodePool } from "./node-pool.ts";
import { refusalAsUnavailable } from "./refusal-as-unavailable.ts";
import { NodeFault, NodeUnable, RpcRefusal } from "./rpc-failure.ts";

const CHUNK_ACCOUNTS = 1000;
/** Above so many accounts the next scan of the program is split at once. */
const SPLIT_ABOVE = 200_000;
/** Parts of a split scan that are asked for at the same time; public nodes count requests. */
const PARTS_AT_ONCE = 2;

type Chunk = AtSlot<ReadonlyArray<LedgerAccount>>;

/** Accounts whose byte at `offset` is `value` (Agave `rpc-client-types`, `RpcFilterType::Memcmp`). */
const byteFilter = (offset: number, value: number) => ({
  filters: [{ memcmp: { offset, bytes: encodeBase58(Uint8Array.of(value)) } }],
});

/** Whether a node's failure can come from the size of what was asked: the answer, the scan or the wait for them. */
const maySizeMatter = (failure: LedgerFailure): boolean => {
  if (failure._tag === "LedgerTimeout") return true;
  const { cause } = failure;
  if (cause instanceof NodeFault) return cause.kind === "oversize" || cause.kind === "unwell";
  if (cause instanceof NodeUnable) return cause.kind !== "behind";
  return cause instanceof RpcRefusal;
};

/**
 * `Ledger.programAccounts` over a pool of nodes: one request while the accounts are few; one for each value
 * of the byte at `splitAt` when the last scan found many, or when nodes cannot give all of them at once.
 * Accounts too short to have that byte are then left out: no account that a program here makes is.
 */
export const programAccounts = (pool: NodePool["Service"]) => {
  const large = new Set<Address>();

  const scan = Effect.fn("Ledger.programAccounts")(function* (
    program: Address,
    filter: object,
    emit: (chunk: Chunk) => Effect.Effect<void>,
  ) {
    const lowest = pool.slots.at("finalized");
    const options = {
      encoding: "base64",
      withContext: true,
      commitment: "finalized",
      ...(lowest > 0 ? { minContextSlot: lowest } : {}),
      ...filter,
    };
    const slot = yield* pool.scan([program, options], {
      judge: (slot) => pool.slots.judge("finalized", slot),
      chunkAccounts: CHUNK_ACCOUNTS,
      emit,
    });
    pool.slots.saw("finalized", slot);
  }, refusalAsUnavailable);

  const streamed = (program: Address, filter: object): Stream.Stream<Chunk, LedgerFailure> =>
    Stream.callback<Chunk, LedgerFailure>(
      (queue) =>
        Effect.matchCauseEffect(
          scan(program, filter, (chunk) => Queue.offer(queue, chunk)),
          {
            onSuccess: () => Queue.end(queue),
            onFailure: (cause) => Queue.failCause(queue, cause),
          },
        ),
      // One chunk waits while one is being applied: the node is read no faster than the store writes.
      { bufferSize: 1, strategy: "suspend" },
    );

  return (program: Address, splitAt?: number): Stream.Stream<Chunk, LedgerFailure> => {
    const whole = Stream.suspend(() => {
      let accounts = 0;
      return streamed(program, {}).pipe(
        Stream.tap(({ value }) => Effect.sync(() => void (accounts += value.length))),
        Stream.onEnd(Effect.sync(() => void (accounts > SPLIT_ABOVE && large.add(program)))),
      );
    });
    if (splitAt === undefined) return whole;
    const parts = Stream.range(0, 255).pipe(
      Stream.flatMap((value) => streamed(program, byteFilter(splitAt, value)), {
        concurrency: PARTS_AT_ONCE,
        bufferSize: 1,
      }),
    );
    return Stream.suspend(() => {
      if (large.has(program)) return parts;
      return Stream.catchIf(whole, maySizeMatter, () => {
        large.add(program);
        return parts;
      });
    });
  };
};
