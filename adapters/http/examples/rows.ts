import { sha256 } from "@noble/hashes/sha2.js";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { merchantStats } from "../../../core/domain/merchant/merchant-stats.ts";
import { merchantRecord, registryEntryRecord } from "../records/merchant.ts";
import { sampleEscrow, sampleMerchant } from "../openapi/sample-values.ts";

/** A merchant as answers show it. */
export const merchantExample = () => merchantRecord(sampleMerchant());

/** A registry entry as answers show it. */
export const registryEntryExample = () =>
  registryEntryRecord({ merchant: sampleMerchant(), stats: merchantStats([sampleEscrow()]) });

/** A hash that stands for any in examples. */
export const hashExample = (word: string) =>
  hash32FromBytes(sha256(new TextEncoder().encode(word)));
