import { Layer } from "effect";
import { outcomeLogPostgres } from "../../../adapters/postgres/outcome-log.ts";
import { outcomeLogContract } from "../../contracts/outcome-log.ts";
import { freshSchema, storeAt, TEST_LEDGER, withPostgres } from "./test-database.ts";

withPostgres("outcomeLogPostgres is an outcome log", () =>
  outcomeLogContract("outcomeLogPostgres", () =>
    outcomeLogPostgres(TEST_LEDGER).pipe(Layer.provide(storeAt(freshSchema()))),
  ),
);
