import { Context, Effect, Layer } from "effect";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { IndexWriter } from "../../ports/index/index-writer.ts";
import { LogStore } from "../../ports/log/log-store.ts";
import { indexReaderOf } from "./index-queries.ts";
import { indexWriterOf } from "./index-changes.ts";
import { IndexRows } from "./index-rows.ts";
import { logStoreOf } from "./log-rows.ts";

/**
 * The index and the log's store in this process's memory, lost when it ends; a new and empty one from each call. Every
 * query reads all rows: it is the reference of the contract that the other stores share.
 */
export const indexMemory = (): Layer.Layer<IndexReader | IndexWriter | LogStore> =>
  Layer.effectContext(
    Effect.sync(() => {
      const rows = new IndexRows();
      return Context.make(IndexReader, indexReaderOf(rows)).pipe(
        Context.add(IndexWriter, indexWriterOf(rows)),
        Context.add(LogStore, logStoreOf(rows)),
      );
    }),
  );
