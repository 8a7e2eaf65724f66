import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { type RefusedOfLog, Witness } from "../../../core/use-cases/witness/witness.ts";
import { nullable, record, Slot } from "../openapi/values.ts";
import { RouteNotFound } from "../problems/http-failures.ts";
import { endpoint } from "../server/endpoint.ts";
import { REFUSED_PATH, refusedRecord } from "./witness-answers.ts";

const RefusedCheckpoint = record(
  "RefusedCheckpoint",
  "A checkpoint that its log signed, and that this witness refused.",
  {
    origin: Type.String({ description: "The log." }),
    reason: Type.String({ description: "Why it was refused." }),
    checkpoint: Type.String({ description: "A signed note with the log's signature alone." }),
    config: nullable(
      record(
        "ShownConfig",
        "The custody config account as the witness's node showed it, finalized. It holds the ledger's root.",
        {
          slot: Slot("The slot at which the node showed it."),
          owner: Type.String({ description: "The program that owns it." }),
          data_base64: Type.String({ description: "The account's bytes." }),
        },
      ),
      { description: "At this size, or else the newest; null where the node has shown none." },
    ),
  },
);

const RefusedCheckpoints = record("RefusedCheckpoints", "What this witness refused.", {
  refused: Type.Array(RefusedCheckpoint, {
    description: "Of each log the first one and the newest 31, oldest first.",
  }),
});

/** A refused checkpoint, as the document shows it. Its signature is made up. */
export const REFUSED_EXAMPLE: RefusedOfLog = {
  origin: "log.example/log/e4fcafed17647573/0",
  reason: "the ledger has another root at this size",
  checkpoint:
    "log.example/log/e4fcafed17647573/0\n1\nfY7xsRt0ud3PoqljHlBBSg6nAx1xobLXS61nlNjEyi0=\n\n— log.example/log/e4fcafed17647573/0 NDvuU+zR7d9PD3gXLKT5a9bBx26CJGmLwMa6SZazRaNoLMGlvrWessRpt+e596mBewMV29UQXbXwVXwlftPJdiMNxgY=\n",
};

/** `GET /witness/refused` */
export const readRefusedEndpoint = endpoint({
  method: "GET",
  path: REFUSED_PATH,
  operationId: "readRefusedCheckpoints",
  tag: "Log",
  summary: "The checkpoints that this witness refused",
  description:
    "Evidence for strangers: each was signed by its log and contradicts what this witness cosigned, the log's own tiles or the witness's node. Where no witness is configured, there is nothing at this path.",
  budget: "reads",
  answers: {
    200: {
      description: "What was refused.",
      content: {
        "application/json": {
          schema: RefusedCheckpoints,
          example: () => refusedRecord([REFUSED_EXAMPLE]),
        },
      },
    },
  },
  problems: ["route_not_found", "witness_not_ready"],
}).handle(
  Effect.fnUntraced(function* () {
    const { refused } = yield* Witness;
    if (refused === null) return yield* new RouteNotFound();
    return { status: 200, json: refusedRecord(yield* refused) } as const;
  }),
);
