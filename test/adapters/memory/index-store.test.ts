import { indexMemory } from "../../../adapters/memory/index-store.ts";
import { indexStoreContract } from "../../contracts/index-store.ts";

indexStoreContract("indexMemory", indexMemory, 40);
