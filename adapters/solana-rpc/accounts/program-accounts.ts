import { Effect, Queue, Stream } from "effect";
import type { AccountKind } from "../../../core/domain/ledger/account.ts";
import { encodeBase58 } from "../../../core/domain/encoding/base58.ts";
import type { LedgerFailure, ScannedAccounts, ScanOptions } from "../../../ports/ledger/ledger.ts";
import {
  bytesAt,
  PAGE_ACCOUNTS,
  pagedAccounts,
  scanInto,
  type TakeChunk,
} from "./paged-accounts.ts";
import type { NodePool } from "../pool/node-pool.ts";
import { NodeFault, NodeUnable, RpcRefusal } from "../transport/rpc-failure.ts";

/** Above this number of accounts, the next scan of a kind is split. */
const SPLIT_ABOVE = 200_000;
/** Parts of a split scan requested at the same time. Public nodes limit requests. */
const PARTS_AT_ONCE = 2;

/** The cursor of a split scan: the parts before this one are complete. */
const PARTS_FROM = "parts from ";
const PARTS = 256;

/** The part at which a cursor continues; 0 without a cursor, and for one that is not of a split scan. */
const firstPart = (after: string | undefined): number => {
  const number = after?.startsWith(PARTS_FROM) ? Number(after.slice(PARTS_FROM.length)) : 0;
  return Number.isInteger(number) && number > 0 && number < PARTS ? number : 0;
};

/** Whether a node's failure may come from the size of the answer or of the scan. */
const maySizeMatter = (failure: LedgerFailure): boolean => {
  if (failure._tag === "LedgerTimeout") return true;
  const { cause } = failure;
  if (cause instanceof NodeFault) return cause.kind === "oversize" || cause.kind === "unwell";
  if (cause instanceof NodeUnable) return cause.kind !== "behind";
  return cause instanceof RpcRefusal;
};

const streamed = <A>(
  scanInto: (emit: TakeChunk) => Effect.Effect<A, LedgerFailure>,
): Stream.Stream<ScannedAccounts, LedgerFailure> =>
  Stream.callback<ScannedAccounts, LedgerFailure>(
    (queue) =>
      Effect.matchCauseEffect(
        scanInto((chunk) => Queue.offer(queue, chunk)),
        {
          onSuccess: () => Queue.end(queue),
          onFailure: (cause) => Queue.failCause(queue, cause),
        },
      ),
    // One chunk waits while another is applied, so the node is read no faster than the store writes.
    { bufferSize: 1, strategy: "suspend" },
  );

/**
 * `Ledger.programAccounts` over a pool of nodes. Reads the accounts in one of three ways. Few accounts: one request.
 * More than a page: in pages, if the nodes offer them. Otherwise, when the last scan returned many accounts or a node
 * could not return them all: one request for each value of the byte at `splitAt`.
 */
export const programAccounts = (pool: NodePool["Service"]) => {
  const paged = pagedAccounts(pool);
  /** Kinds with many accounts, by program and discriminator. */
  const large = new Set<string>();

  const scan = (
    kind: AccountKind,
    filters: ReadonlyArray<object>,
    { notBefore }: ScanOptions,
    emit: TakeChunk,
  ) =>
    scanInto(pool, kind, notBefore, { filters }, emit).pipe(
      Effect.withSpan("Ledger.programAccounts"),
    );

  /**
   * One request for each value of the byte at `splitAt`, from a part on. Reports progress as parts
   * become complete in order.
   */
  const inParts = (kind: AccountKind, splitAt: number, from: number, options: ScanOptions) =>
    Stream.suspend(() => {
      const complete = new Set<number>();
      let open = from;
      return Stream.range(from, PARTS - 1).pipe(
        Stream.flatMap(
          (value) => {
            let slot: bigint | null = null;
            const part = streamed((emit) =>
              scan(kind, [bytesAt(splitAt, Uint8Array.of(value))], options, emit),
            ).pipe(Stream.tap((chunk) => Effect.sync(() => void (slot = chunk.slot))));
            const end = Stream.suspend(() => {
              complete.add(value);
              if (value !== open || slot === null) return Stream.empty;
              while (complete.has(open)) open += 1;
              return open < PARTS
                ? Stream.succeed<ScannedAccounts>({ slot, value: [], next: PARTS_FROM + open })
                : Stream.empty;
            });
            return Stream.concat(part, end);
          },
          { concurrency: PARTS_AT_ONCE, bufferSize: 1 },
        ),
      );
    });

  const unpaged = (kind: AccountKind, options: ScanOptions) => {
    const { program, discriminator, splitAt } = kind;
    const name = `${program} ${encodeBase58(discriminator)}`;
    const whole = Stream.suspend(() => {
      let accounts = 0;
      return streamed((emit) => scan(kind, [], options, emit)).pipe(
        Stream.tap(({ value }) => Effect.sync(() => void (accounts += value.length))),
        Stream.onEnd(Effect.sync(() => void (accounts > SPLIT_ABOVE && large.add(name)))),
      );
    });
    if (splitAt === undefined) return whole;
    return Stream.suspend(() => {
      const from = firstPart(options.after);
      if (large.has(name) || from > 0) return inParts(kind, splitAt, from, options);
      return Stream.catchIf(whole, maySizeMatter, () => {
        large.add(name);
        return inParts(kind, splitAt, 0, options);
      });
    });
  };

  return (
    kind: AccountKind,
    options: ScanOptions = {},
  ): Stream.Stream<ScannedAccounts, LedgerFailure> => {
    const { expected = 0n, after, changedSince } = options;
    if (changedSince !== undefined) return streamed((take) => paged(kind, options, take));
    if (expected <= BigInt(PAGE_ACCOUNTS) && after === undefined) return unpaged(kind, options);
    return Stream.suspend(() => {
      let isOffered = true;
      const pages = streamed((take) =>
        Effect.tap(paged(kind, options, take), (offered) =>
          Effect.sync(() => void (isOffered = offered)),
        ),
      );
      return Stream.concat(
        pages,
        Stream.suspend(() => (isOffered ? Stream.empty : unpaged(kind, options))),
      );
    });
  };
};
