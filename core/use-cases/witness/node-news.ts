import { Clock, Duration, Effect, Queue, Stream } from "effect";
import { AccountNews, type AccountTold } from "../../../ports/ledger/account-news.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { hash32FromBytes } from "../../domain/hash32.ts";
import { edgeOf } from "../../log/tree/frontier.ts";
import type { TreeHead } from "../../log/tree/tree-edge.ts";
import { decodeCustodyConfigAccount } from "../../protocol/accounts/settings-accounts.ts";
import { custodyConfigAddress } from "../../protocol/addresses/addresses.ts";
import { NewsHearing } from "../news-hearing.ts";
import { FRESH_FOR_MS, type NodeRoots } from "./node-roots.ts";
import type { WitnessNotReady } from "./witness-errors.ts";

/** Between two looks at a node whose news can be relied on: a silent one is noticed by them. */
const LOOK_BESIDE_NEWS_MS = Duration.toMillis(Duration.seconds(30));

/** Between two looks that news cause: a node finalizes one slot in this time. */
const LOOK_APART_MS = 400;

const markOf = ({ size, root }: TreeHead): string => `${size} ${hash32FromBytes(root)}`;

/** The mark of an account that is told of; one that no look shows for an account that is no config. */
const markTold = (
  { account }: Extract<AccountTold, { readonly kind: "changed" }>,
  deployment: Deployment,
): string => {
  const config = account === null ? null : decodeCustodyConfigAccount(account, deployment);
  if (config === null || "fault" in config) return "unreadable";
  const edge = edgeOf(config.value);
  return markOf({ size: edge.size, root: edge.root() });
};

/**
 * Looks at the node for as long as it runs: when its news tell of a root that no look has shown, and when the newest
 * answer has become old, whoever asked for it. That is after two seconds, and after half a minute while the news can be
 * relied on. Nothing is believed of the news: what a look shows counts.
 */
export const followNode = Effect.fnUntraced(function* (
  roots: NodeRoots,
  look: (sinceMs: number) => Effect.Effect<TreeHead, WitnessNotReady>,
  deployment: Deployment,
) {
  const news = yield* AccountNews;
  const hearing = new NewsHearing();
  const woken = yield* Queue.sliding<null>(1);
  let isLookDue = true;
  const hear = Effect.fnUntraced(function* (told: AccountTold) {
    const wasReliable = hearing.isReliable;
    if (told.kind === "taken") hearing.taken(yield* Clock.currentTimeMillis);
    else if (told.kind === "lost") hearing.lost();
    else if (told.kind === "pushed") hearing.heard();
    else hearing.told(markTold(told, deployment));
    // News that were late or false cause no further looks until a look agrees with them.
    if (told.kind === "changed" && wasReliable && !hearing.isReliable) isLookDue = true;
    yield* Queue.offer(woken, null);
  });
  yield* Effect.forkChild(
    Stream.runForEach(news.of(custodyConfigAddress(deployment).address), hear),
  );
  const restMs = () => (hearing.isReliable ? LOOK_BESIDE_NEWS_MS : FRESH_FOR_MS);
  for (;;) {
    const nowMs = yield* Clock.currentTimeMillis;
    const sinceMs = isLookDue ? nowMs : nowMs - restMs();
    isLookDue = false;
    yield* Effect.ignore(look(sinceMs));
    const { newest } = roots;
    if (newest !== null) hearing.looked(markOf(newest), newest.askedAtMs);
    const askedAtMs = newest?.askedAtMs ?? nowMs;
    const dueAtMs = askedAtMs + (newest === null ? FRESH_FOR_MS : restMs());
    const leftMs = Math.max(1, dueAtMs - (yield* Clock.currentTimeMillis));
    yield* Effect.timeoutOption(Queue.take(woken), Duration.millis(leftMs));
    if (isLookDue) {
      const apartMs = askedAtMs + LOOK_APART_MS - (yield* Clock.currentTimeMillis);
      if (apartMs > 0) yield* Effect.sleep(Duration.millis(apartMs));
    }
  }
});
