import { Clock, Data, Duration, Effect, Random } from "effect";
import { projectCommand } from "../../domain/project-command.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { LogIdentity } from "../../../ports/log/log-signer.ts";
import { type WebhookRecord, WebhookRecords } from "../../../ports/webhook-records.ts";
import { WebhookSender } from "../../../ports/webhook-sender.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { IndexedEvent } from "../../domain/index/settlement-event.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { followEvents } from "../index/follow-events.ts";
import { coverage } from "../index/index-query.ts";
import { NEVER_FAILED, secretsAt, type Webhook, webhookText } from "./webhook.ts";
import { webhookHeaders } from "./webhook-signature.ts";

/** Requests to one receiver at the same time, each of another escrow. */
const ESCROWS_AT_ONCE = 8;
/** Events that are sent before their success is written down: as many come again after a kill at most. */
const MOST_REPEATED = 24;
/** The pause behind the first failed attempt; each further one doubles it. */
const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 3_600_000;
/** A receiver that has failed for as long, and as often, is given up: time alone passes while the service is away. */
const GIVEN_UP_AFTER_MS = 5 * 86_400_000;
const GIVEN_UP_AFTER_FAILURES = 50;
/** How far a filter that passes nothing moves on before that is written down. */
const MOST_UNSAVED = 1000n;

/** The JSON text that tells of an event, with its escrow as the index shows it at a time of the ledger's clock. */
export type WebhookBody = (event: IndexedEvent, escrow: Escrow, ledgerTime: UnixSeconds) => string;

/** The operator has changed the webhook, another replica delivers, or the index is not there yet. */
export class Superseded extends Data.TaggedError("Superseded") {}

/** What the process that delivers a webhook counts of it. */
export type WebhookCounts = {
  /** Requests that the receiver took, and those that failed. */
  delivered: number;
  failed: number;
  /** Every event up to this number is delivered, or passed by the filter; null while it is not delivered here. */
  position: bigint | null;
};

/** Why an attempt failed. */
type Failure = {
  readonly reason: string;
  readonly retryAfterMs: number;
  readonly isGone: boolean;
};

/** What delivering one webhook needs beside its services. */
type Delivering = {
  readonly bodyOf: WebhookBody;
  /** Whether this process is the one that delivers now. */
  readonly isDelivering: Effect.Effect<boolean>;
  readonly counts: WebhookCounts;
};

/** One request; null when the receiver took it. */
const attempt = Effect.fnUntraced(function* (
  webhook: Webhook,
  indexed: IndexedEvent,
  bodyOf: WebhookBody,
) {
  const { escrows } = yield* IndexReader.use((index) => index.escrowsAt([indexed.event.escrow]));
  const [escrow] = escrows;
  const { ledgerTime } = yield* coverage;
  // The index was replaced in between.
  if (escrow === undefined || ledgerTime === null) return yield* new Superseded();
  const body = bodyOf(indexed, escrow, ledgerTime);
  const logId = yield* LogIdentity.use(({ id }) => id);
  const id = `${webhook.id}-${logId}-${indexed.position}`;
  const nowMs = yield* Clock.currentTimeMillis;
  const message = { id, atSeconds: Math.floor(nowMs / 1000), body };
  const headers = webhookHeaders(secretsAt(webhook, nowMs), message);
  const { url, allowPrivate } = webhook;
  const { send } = yield* WebhookSender;
  return yield* send({ url: new URL(url), allowPrivate, headers, body }).pipe(
    Effect.map(({ status, retryAfterSeconds }): Failure | null => {
      if (status >= 200 && status < 300) return null;
      const retryAfterMs = (retryAfterSeconds ?? 0) * 1000;
      return { reason: `it answered ${status}`, retryAfterMs, isGone: status === 410 };
    }),
    Effect.catch(({ reason }) => Effect.succeed({ reason, retryAfterMs: 0, isGone: false })),
  );
});

/**
 * Sends events until one fails: those of an escrow one after the other, those of several side by side. Gives the
 * numbers of those that were taken, and the first failure.
 */
const sendAll = Effect.fnUntraced(function* (
  webhook: Webhook,
  events: ReadonlyArray<IndexedEvent>,
  { bodyOf, counts }: Delivering,
) {
  const taken = new Set<bigint>();
  const failures: Array<Failure> = [];
  const sendInOrder = Effect.fnUntraced(function* (ofEscrow: ReadonlyArray<IndexedEvent>) {
    for (const event of ofEscrow) {
      if (failures.length > 0) return;
      const failure = yield* attempt(webhook, event, bodyOf);
      if (failure !== null) {
        counts.failed += 1;
        failures.push(failure);
        return;
      }
      counts.delivered += 1;
      taken.add(event.position);
    }
  });
  const byEscrow = Map.groupBy(events, ({ event }) => event.escrow).values();
  yield* Effect.forEach(byEscrow, sendInOrder, { concurrency: ESCROWS_AT_ONCE, discard: true });
  return { taken, failure: failures[0] ?? null };
});

/** The pause behind the last of some failed attempts, milliseconds, a quarter more or less by chance. */
const pauseMs = (failures: number, { retryAfterMs }: Failure) =>
  Effect.map(Random.next, (chance) => {
    const doubled = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
    return Math.max(doubled * (0.75 + chance / 2), Math.min(LONGEST_PAUSE_MS, retryAfterMs));
  });

/**
 * Delivers one webhook until its receiver is gone or given up. Nothing is queued: it reads the index's events behind its
 * position. What the receiver has taken is written down after it, so that a killed process repeats and never skips.
 * Fails as `Superseded` where it must not go on, and like the store.
 */
export const deliverWebhook = Effect.fn("deliverWebhook")(function* (
  record: WebhookRecord,
  stored: Webhook,
  delivering: Delivering,
) {
  const { counts, isDelivering } = delivering;
  const records = yield* WebhookRecords;
  const { id, merchant, agentOwner } = stored;
  let webhook = stored;
  let text = record.text;
  const save = Effect.fnUntraced(function* (changes: Partial<Webhook>) {
    const next = { ...webhook, ...changes };
    const nextText = webhookText(next);
    if (nextText === text) return;
    if (!(yield* records.replace(id, text, nextText))) return yield* new Superseded();
    webhook = next;
    text = nextText;
  });

  /** Notes a failed attempt at the event of a number, and waits; true when the webhook has ended. */
  const noteFailure = Effect.fnUntraced(function* (
    failure: Failure,
    position: bigint,
    isFirst: boolean,
  ) {
    const nowMs = yield* Clock.currentTimeMillis;
    const before = isFirst ? NEVER_FAILED : webhook;
    const failures = before.failures + 1;
    const failingSinceMs = before.failingSinceMs ?? nowMs;
    const isGivenUp =
      failures >= GIVEN_UP_AFTER_FAILURES && nowMs - failingSinceMs >= GIVEN_UP_AFTER_MS;
    const ended = failure.isGone ? "gone" : isGivenUp ? "failing" : null;
    yield* save({ position: position - 1n, failures, failingSinceMs, ended });
    const { host } = new URL(webhook.url);
    const told = { webhook: id, host, reason: failure.reason, position: position.toString() };
    if (ended !== null) {
      const cure = `to begin again: ${projectCommand(`cli webhook replay ${id}`)}`;
      yield* Effect.logError(`the webhook is not delivered any more; ${cure}`, told);
      return true;
    }
    yield* failures === 1
      ? Effect.logWarning("the receiver of a webhook failed, and is tried again", told)
      : Effect.logDebug("the receiver of a webhook failed again", told);
    yield* Effect.sleep(Duration.millis(yield* pauseMs(failures, failure)));
    return false;
  });

  if (webhook.position === null) {
    const { mark } = yield* IndexReader.use(({ summary }) => summary);
    if (mark === null) return yield* new Superseded();
    yield* save({ position: mark.count });
  }
  const filter = { merchant: merchant ?? undefined, agentOwner: agentOwner ?? undefined };
  const follower = yield* followEvents(filter, webhook.position).pipe(
    Effect.catchTag("InvalidAddress", Effect.die),
  );
  counts.position = follower.position();
  for (;;) {
    let pending = yield* follower.next;
    const hasEvents = pending.length > 0;
    while (pending.length > 0) {
      if (!(yield* isDelivering)) return yield* new Superseded();
      const batch = pending.slice(0, MOST_REPEATED);
      const { taken, failure } = yield* sendAll(webhook, batch, delivering);
      pending = pending.filter(({ position }) => !taken.has(position));
      const [next] = pending;
      if (next === undefined) break;
      const position = next.position - 1n;
      counts.position = position;
      if (failure === null) yield* save({ position, ...NEVER_FAILED });
      else if (yield* noteFailure(failure, next.position, taken.size > 0)) return;
    }
    const position = follower.position();
    counts.position = position;
    if (hasEvents) yield* save({ position, ...NEVER_FAILED });
    else {
      if (position - (webhook.position ?? 0n) >= MOST_UNSAVED) yield* save({ position });
      yield* follower.grown;
    }
  }
});
