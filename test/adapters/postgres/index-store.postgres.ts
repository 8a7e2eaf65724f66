import { indexStoreContract } from "../../contracts/index-store.ts";
import { emptiedIndexes } from "./emptied-schema.ts";

indexStoreContract("indexPostgres", emptiedIndexes(), 20);
