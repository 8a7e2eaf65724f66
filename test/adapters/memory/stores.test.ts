import { indexMemory } from "../../../adapters/memory/index-store.ts";
import { indexStoreContract } from "../../contracts/index-store.ts";
import { outcomeLogMemory } from "../../../adapters/memory/outcome-log.ts";
import { outcomeLogContract } from "../../contracts/outcome-log.ts";
import { witnessStateMemory } from "../../../adapters/memory/witness-state.ts";
import { witnessStateContract } from "../../contracts/witness-state.ts";

witnessStateContract("witness state in memory", () => witnessStateMemory);

outcomeLogContract("memory", () => outcomeLogMemory);

indexStoreContract("indexMemory", indexMemory, 40);
