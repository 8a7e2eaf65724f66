import { indexReaderOf } from "../../adapters/memory/index-queries.ts";
import { IndexRows } from "../../adapters/memory/index-rows.ts";

/** The reads of an index before its first sync. */
export const indexWithoutRows = () => indexReaderOf(new IndexRows());
