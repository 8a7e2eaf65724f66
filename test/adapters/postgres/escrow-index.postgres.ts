import { describe } from "bun:test";
import { escrowIndexContract } from "../../contracts/escrow-index.ts";
import { freshSchema, indexAt } from "./test-database.ts";

describe("escrowIndexPostgres is an escrow index", () =>
  escrowIndexContract("escrowIndexPostgres", () => indexAt(freshSchema()), 20));
