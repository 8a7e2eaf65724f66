import { indexStoreContract } from "../../contracts/index-store.ts";
import { freshSchema, indexAt } from "./test-database.ts";

indexStoreContract("indexPostgres", () => indexAt(freshSchema()), 20);
