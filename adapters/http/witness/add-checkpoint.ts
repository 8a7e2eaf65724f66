import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { printTlogSize, TLOG_SIZE_TYPE } from "../../../core/log/witness/add-checkpoint.ts";
import { CheckpointMalformed } from "../../../core/use-cases/witness/witness-errors.ts";
import { Witness } from "../../../core/use-cases/witness/witness.ts";
import { RouteNotFound } from "../problems/http-failures.ts";
import { endpoint } from "../server/endpoint.ts";
import { ADD_CHECKPOINT_PATH } from "./witness-answers.ts";

/** A request that offers a log's first checkpoint: that of leaf 0 alone. */
export const ADD_CHECKPOINT_EXAMPLE = `old 0

log.example/log/e4fcafed17647573/0
1
fY7xsRt0ud3PoqljHlBBSg6nAx1xobLXS61nlNjEyi0=

— log.example/log/e4fcafed17647573/0 NDvuU+zR7d9PD3gXLKT5a9bBx26CJGmLwMa6SZazRaNoLMGlvrWessRpt+e596mBewMV29UQXbXwVXwlftPJdiMNxgY=
`;

/** A cosignature of that checkpoint. */
export const COSIGNATURE_EXAMPLE = `— witness.example ej7y3gAAAABpVbkA2XRMnqEwSNC8D/criXmN6mb9yQuu5MxXVgtAoxW9Poa6L0YqBEQovm100o0rR89PLwADFnlHiDsMR+cULhI5BQ==
`;

/** `POST /witness/add-checkpoint` */
export const addCheckpointEndpoint = endpoint({
  method: "POST",
  path: ADD_CHECKPOINT_PATH,
  operationId: "addCheckpoint",
  tag: "Log",
  summary: "Have a checkpoint cosigned",
  description:
    "C2SP tlog-witness. Cosigns the checkpoint if its root is the one that this service's own node has finalized, or if the log's tiles lead on from it to that root. Where no witness is configured, there is nothing at this path.",
  budget: "relay",
  maySeconds: 120,
  textBody: {
    description:
      "The line `old` with the size that the witness cosigned last, the consistency proof in base64, a hash a line, an empty line, and the signed checkpoint.",
    example: () => ADD_CHECKPOINT_EXAMPLE,
  },
  answers: {
    200: {
      description: "The checkpoint is cosigned: a signature line of C2SP signed-note.",
      content: {
        "text/plain": { schema: Type.String(), example: () => COSIGNATURE_EXAMPLE },
      },
    },
    409: {
      description:
        "The old size is not the one that the witness cosigned last, or another root was cosigned at this size: the size cosigned last, and a newline.",
      content: { [TLOG_SIZE_TYPE]: { schema: Type.String(), example: () => printTlogSize(20) } },
    },
  },
  problems: [
    "checkpoint_malformed",
    "log_signature_invalid",
    "log_unknown",
    "route_not_found",
    "checkpoint_refused",
    "witness_not_ready",
  ],
}).handle(
  Effect.fnUntraced(function* ({ text }) {
    const { addCheckpoint } = yield* Witness;
    if (addCheckpoint === null) return yield* new RouteNotFound();
    if (text === null) return yield* new CheckpointMalformed({ detail: "the body is not UTF-8" });
    const answer = yield* addCheckpoint(text);
    return answer.kind === "cosigned"
      ? ({ status: 200, text: answer.lines } as const)
      : ({
          status: 409,
          headers: { "content-type": TLOG_SIZE_TYPE },
          text: printTlogSize(answer.size),
        } as const);
  }),
);
