import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { readCheckpoint } from "../../../core/use-cases/log/serving/read-log.ts";
import { entityTag, isNotModified } from "../request/entity-tag.ts";
import { endpoint } from "../server/endpoint.ts";
import { sampleLog } from "./sample-log.ts";

/** It changes once a second at most, and a client that compares checkpoints wants a recent one. */
const CACHING = "public, max-age=5";

/** `GET /log/checkpoint` */
export const checkpointEndpoint = endpoint({
  method: "GET",
  path: "/log/checkpoint",
  operationId: "readLogCheckpoint",
  tag: "Settlement log",
  summary: "The log's newest checkpoint with its witnesses' cosignatures",
  description:
    "A signed note (C2SP tlog-checkpoint): origin, size and root of the tree, the log's signature, then those of the quorum of its witnesses. Offered to them again every ten minutes, so that it can be known to be fresh.",
  budget: "reads",
  answers: {
    200: {
      description: "The checkpoint.",
      content: { "text/plain": { schema: Type.String(), example: () => sampleLog().checkpoint } },
      headers: {
        etag: "Strong validator of the whole body.",
        "cache-control": "For seconds.",
      },
    },
    304: {
      description: "The checkpoint is the one that `If-None-Match` names.",
      content: {},
      headers: { etag: "The checkpoint's validator." },
    },
  },
  problems: ["not_in_log", "store_unavailable"],
}).handle(
  Effect.fnUntraced(function* ({ headers }) {
    const text = yield* readCheckpoint;
    const etag = entityTag(text);
    const own = { etag, "cache-control": CACHING };
    return isNotModified(headers.get("if-none-match"), etag)
      ? { status: 304 as const, text: null, headers: own }
      : { text, headers: own };
  }),
);
