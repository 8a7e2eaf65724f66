import { outcomeLogMemory } from "../../../adapters/memory/outcome-log.ts";
import { outcomeLogContract } from "../../contracts/outcome-log.ts";

outcomeLogContract("memory", () => outcomeLogMemory);
