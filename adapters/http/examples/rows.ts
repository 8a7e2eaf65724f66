import { sha256 } from "@noble/hashes/sha2.js";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { merchantStats } from "../../../core/domain/merchant/merchant-stats.ts";
import { chainedEventHash, eventChainStart } from "../../../core/domain/index/event-chain.ts";
import { eventsOf } from "../../../core/domain/index/settlement-event.ts";
import { eventRecord } from "../records/event.ts";
import { merchantRecord, registryEntryRecord } from "../records/merchant.ts";
import { SAMPLE, sampleEscrow, sampleMerchant } from "../openapi/sample-values.ts";

/** A merchant as answers show it. */
export const merchantExample = () => merchantRecord(sampleMerchant());

/** A registry entry as answers show it. */
export const registryEntryExample = () =>
  registryEntryRecord({ merchant: sampleMerchant(), stats: merchantStats([sampleEscrow()]) });

/** The last event of the sample escrow as answers show it. */
export const eventExample = () => {
  const events = eventsOf(sampleEscrow());
  const start = eventChainStart(SAMPLE.genesisHash, SAMPLE.deployment);
  const chain = events.reduce(
    ({ previous }, event) => ({ event, previous: chainedEventHash(previous, event) }),
    { event: events[0], previous: start },
  );
  if (chain.event === undefined) throw new Error("a settled escrow has events");
  return eventRecord({
    event: chain.event,
    position: BigInt(events.length),
    chainHash: chain.previous,
    signature: null,
    slot: null,
  });
};

/** A hash that stands for any in examples. */
export const hashExample = (word: string) =>
  hash32FromBytes(sha256(new TextEncoder().encode(word)));
