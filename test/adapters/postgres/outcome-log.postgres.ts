import { describe } from "bun:test";
import { Layer } from "effect";
import { outcomeLogPostgres } from "../../../adapters/postgres/outcome-log.ts";
import { outcomeLogContract } from "../../contracts/outcome-log.ts";
import { freshSchema, storeAt, TEST_LEDGER } from "./test-database.ts";

describe("outcomeLogPostgres is an outcome log", () =>
  outcomeLogContract("outcomeLogPostgres", () =>
    outcomeLogPostgres(TEST_LEDGER).pipe(Layer.provide(storeAt(freshSchema()))),
  ));
