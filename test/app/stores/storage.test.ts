import { expect, test } from "bun:test";
import { Layer } from "effect";
import { indexMemory } from "../../../adapters/memory/index-store.ts";
import { indexNewsMemory } from "../../../adapters/memory/index-news.ts";
import { outcomeLogMemory } from "../../../adapters/memory/outcome-log.ts";
import { webhookRecordsMemory } from "../../../adapters/memory/webhook-records.ts";
import type { Storage } from "../../../app/stores/storage.ts";
import { IndexSync, makeIndexSync } from "../../../core/use-cases/index/sync/index-sync.ts";
import { NO_PACKETS, SettledPackets } from "../../../ports/settled-packets.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { logIdentity } from "../../doubles/log-identity.ts";
import { nothingKept } from "../../doubles/nothing-kept.ts";

const webhooks = webhookRecordsMemory();
const packets = Layer.merge(Layer.succeed(SettledPackets, NO_PACKETS), webhooks);
const stores = Layer.mergeAll(
  indexMemory(),
  outcomeLogMemory,
  logIdentity(TEST_GENESIS_HASH, TEST_DEPLOYMENT),
);
const sync = Layer.effect(IndexSync, makeIndexSync()).pipe(Layer.provide(stores));
const synced = Layer.merge(stores, Layer.provide(sync, nothingKept));

test("a storage that lacks one of its parts does not compile", () => {
  const whole: Storage = Layer.mergeAll(synced, packets, indexNewsMemory);
  expect(Layer.isLayer(whole)).toBe(true);
  // @ts-expect-error Nothing keeps the packets that were served.
  const withoutPackets: Storage = Layer.mergeAll(synced, webhooks, indexNewsMemory);
  // @ts-expect-error Nothing keeps the webhooks.
  const withoutWebhooks: Storage = Layer.mergeAll(
    synced,
    Layer.succeed(SettledPackets, NO_PACKETS),
    indexNewsMemory,
  );
  // @ts-expect-error Nothing wakes the streams of events.
  const withoutNews: Storage = Layer.merge(synced, packets);
  // @ts-expect-error Nothing keeps a snapshot on its way, approvals, imports, checkpoints and peers.
  // @effect-diagnostics-next-line missingLayerContext:off
  const withoutSyncParts: Storage = Layer.mergeAll(stores, sync, packets, indexNewsMemory);
  // @ts-expect-error Nothing remembers what was relayed.
  const withoutRelay: Storage = Layer.mergeAll(indexMemory(), packets, indexNewsMemory);
  for (const each of [withoutPackets, withoutWebhooks, withoutNews, withoutSyncParts, withoutRelay])
    expect(Layer.isLayer(each)).toBe(true);
});
