import { escrowIndexContract } from "../../contracts/escrow-index.ts";
import { freshSchema, indexAt, withPostgres } from "./test-database.ts";

withPostgres("escrowIndexPostgres is an escrow index", () =>
  escrowIndexContract("escrowIndexPostgres", () => indexAt(freshSchema()), 20),
);
