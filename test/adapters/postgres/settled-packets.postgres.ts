import { Layer } from "effect";
import { settledPacketsPostgres } from "../../../adapters/postgres/packets/settled-packets.ts";
import { settledPacketsContract } from "../../contracts/settled-packets.ts";
import { freshSchema, storeAt } from "./test-database.ts";

settledPacketsContract("settledPacketsPostgres", () => {
  const url = freshSchema();
  return (most) => Layer.provide(settledPacketsPostgres(most), storeAt(url));
});
