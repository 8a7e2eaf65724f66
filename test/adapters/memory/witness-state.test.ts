import { witnessStateMemory } from "../../../adapters/memory/witness-state.ts";
import { witnessStateContract } from "../../contracts/witness-state.ts";

witnessStateContract("witness state in memory", () => witnessStateMemory);
