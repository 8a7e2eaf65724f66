import { freshSchema } from "../../adapters/postgres/test-database.ts";
import { withoutNodeContract } from "../support/without-node.ts";

withoutNodeContract({
  settings: () => ({ DATABASE_URL: freshSchema().href }),
  isInFolder: false,
});
