import { indexMemory } from "../../../adapters/memory/index-store.ts";
import { indexStoreContract } from "../../contracts/index-store.ts";
import { outcomeLogMemory } from "../../../adapters/memory/outcome-log.ts";
import { outcomeLogContract } from "../../contracts/outcome-log.ts";
import { webhookRecordsMemory } from "../../../adapters/memory/webhook-records.ts";
import { webhookRecordsContract } from "../../contracts/webhook-records.ts";
import { witnessStateMemory } from "../../../adapters/memory/witness-state.ts";
import { witnessStateContract } from "../../contracts/witness-state.ts";

witnessStateContract("witness state in memory", () => witnessStateMemory);

webhookRecordsContract("webhooks in memory", () => {
  const layer = webhookRecordsMemory();
  return () => layer;
});

outcomeLogContract("memory", () => outcomeLogMemory);

indexStoreContract("indexMemory", indexMemory, 40);
