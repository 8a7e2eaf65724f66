import { Effect, Layer, Redacted, type Scope } from "effect";
import fc from "fast-check";
import { indexMemory } from "../../../../adapters/memory/index-store.ts";
import { webhookRecordsMemory } from "../../../../adapters/memory/webhook-records.ts";
import { address } from "../../../../core/domain/address.ts";
import { IndexGrowth, makeIndexGrowth } from "../../../../core/use-cases/index/follow-events.ts";
import { IndexClock, makeIndexClock } from "../../../../core/use-cases/index/index-query.ts";
import type { WebhookBody } from "../../../../core/use-cases/webhook/deliver-webhook.ts";
import {
  NEVER_FAILED,
  type Webhook,
  webhookIdOf,
  webhookText,
} from "../../../../core/use-cases/webhook/webhook.ts";
import { makeWebhookDelivery } from "../../../../core/use-cases/webhook/webhook-delivery.ts";
import { webhookSecret } from "../../../../core/use-cases/webhook/webhook-signature.ts";
import { indexNewsMemory } from "../../../../adapters/memory/index-news.ts";
import { IndexNews } from "../../../../ports/index/index-news.ts";
import { IndexWriter } from "../../../../ports/index/index-writer.ts";
import { SyncEpoch } from "../../../../ports/index/sync-lease.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import {
  type WebhookAnswer,
  type WebhookRequest,
  WebhookSender,
  WebhookUnreachable,
} from "../../../../ports/webhook-sender.ts";
import { changesTo, escrowLives, eventCount } from "../../../arbitraries/index-history.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../../arbitraries/test-ledger.ts";
import { logIdentity } from "../../../doubles/log-identity.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

/** What a receiver does with a request; a number is a status. */
export type Reaction = number | "unreachable" | "hangs" | WebhookAnswer;

/** How receivers react to the event of a number. */
type React = (seen: {
  readonly host: string;
  readonly position: bigint;
  readonly escrow: string;
}) => Reaction;

/** A request as a receiver saw it. */
export type Received = {
  readonly host: string;
  readonly id: string;
  readonly position: bigint;
  readonly escrow: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What the receiver did. */
  readonly reaction: Reaction;
};

/** What the tests send of an event. */
export const shortBody: WebhookBody = ({ event, position }, escrow) =>
  JSON.stringify({ position: Number(position), escrow: event.escrow, state: escrow.state });

/** Lives of escrows, always the same of a seed. */
export const livesOf = (seed: number, escrows = 12) => {
  const [lives] = fc.sample(escrowLives(escrows, escrows), { seed, numRuns: 1 });
  if (lives === undefined) throw new Error("one sample was asked for");
  return lives;
};

/** The `number`th webhook of a test. It begins at the first event. */
export const webhook = (number: number, changes: Partial<Webhook> = {}): Webhook => ({
  id: webhookIdOf(new Uint8Array(8).fill(number)),
  url: `https://receiver-${number}.example/secret-path`,
  secret: Redacted.make(webhookSecret("hmac", new Uint8Array(32).fill(number))),
  formers: [],
  merchant: null,
  agentOwner: null,
  allowPrivate: false,
  edition: 0,
  position: 0n,
  ended: null,
  ...NEVER_FAILED,
  ...changes,
});

/** Receivers of a test, the stored webhooks, and an index that the test lets grow. */
export const webhookWorld = (seed: number, escrows = 12) => {
  const lives = livesOf(seed, escrows);
  const received: Array<Received> = [];
  const stored = new Map<string, string>();
  const world = {
    lives,
    total: eventCount(lives),
    received,
    stored,
    /** How receivers react; all take everything unless a test says otherwise. */
    react: ((): Reaction => 204) as React,
    /** How long a receiver takes, milliseconds. */
    takesMs: 0,
    /** The term whose holder delivers. */
    term: 1n,
    put: (...webhooks: ReadonlyArray<Webhook>) => {
      for (const each of webhooks) stored.set(each.id, webhookText(each));
    },
    /** The positions that a receiver took, in the order in which it did. */
    takenBy: (host: string) =>
      received
        .filter((one) => one.host === host && one.reaction === 204)
        .map(({ position }) => position),
  };
  const sender = Layer.succeed(WebhookSender, {
    send: ({ url, headers, body }: WebhookRequest) =>
      Effect.gen(function* () {
        const { position, escrow } = JSON.parse(body) as { position: number; escrow: string };
        const seen = { host: url.hostname, position: BigInt(position), escrow };
        yield* Effect.sleep(world.takesMs);
        const reaction = world.react(seen);
        received.push({ ...seen, id: headers["webhook-id"] ?? "", headers, body, reaction });
        if (reaction === "hangs") yield* Effect.sleep("20 seconds");
        if (reaction === "hangs" || reaction === "unreachable")
          return yield* new WebhookUnreachable({ reason: reaction });
        return typeof reaction === "number"
          ? { status: reaction, retryAfterSeconds: null }
          : reaction;
      }),
  });
  let count = 0n;
  let isFirst = true;
  /** Brings the index to the event of a number. */
  const growTo = (next: bigint) =>
    Effect.gen(function* () {
      const changes = changesTo(lives, isFirst ? null : count, next);
      yield* Effect.orDie(IndexWriter.use(({ apply }) => apply(changes)));
      isFirst = false;
      count = next;
      yield* IndexNews.use(({ tell }) => tell);
    });
  const log = Layer.effect(
    LogStore,
    Effect.map(LogStore, (store) => ({
      ...store,
      isWriter: Effect.map(SyncEpoch, (epoch) => epoch === world.term),
    })),
  );
  // Days pass in these tests, and every look at the index in between takes its time.
  const news = Layer.effect(
    IndexNews,
    Effect.map(IndexNews, (heard) => ({ ...heard, lookEveryMs: Effect.succeed(86_400_000) })),
  ).pipe(Layer.provide(indexNewsMemory));
  const parts = Layer.mergeAll(
    sender,
    webhookRecordsMemory(stored),
    logIdentity(TEST_GENESIS_HASH, TEST_DEPLOYMENT),
    Layer.effect(IndexClock, makeIndexClock),
    Layer.effect(IndexGrowth, makeIndexGrowth),
    log,
  ).pipe(Layer.provideMerge(indexMemory()), Layer.provideMerge(Layer.merge(news, patientClock())));

  /** Begins one process's delivery, in a term that it holds while that is `world.term`; ends it with the scope. */
  const begin = (term: bigint) =>
    Effect.gen(function* () {
      const delivery = yield* makeWebhookDelivery(shortBody);
      yield* Effect.provideService(delivery.grown, SyncEpoch, term);
      yield* Effect.forkScoped(delivery.run, { startImmediately: true });
      return delivery;
    });
  type Parts = Layer.Success<typeof parts> | Scope.Scope;
  const run = <A>(
    steps: () => Generator<Effect.Effect<unknown, unknown, Parts>, A, never>,
  ): Promise<A> => Effect.runPromise(Effect.scoped(Effect.gen(steps)).pipe(Effect.provide(parts)));
  return Object.assign(world, { growTo, begin, run });
};

/** Any wallet that no life has. */
export const NOBODY = address(TEST_GENESIS_HASH);
