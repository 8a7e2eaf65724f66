import { Cause, Effect, Exit, Option, Result } from "effect";
import { printTlogSize, TLOG_SIZE_TYPE } from "../../../core/log/witness/add-checkpoint.ts";
import {
  CheckpointMalformed,
  type WitnessFailure,
} from "../../../core/use-cases/witness/witness-errors.ts";
import type { Witness, WitnessAnswer } from "../../../core/use-cases/witness/witness.ts";
import { CODE_OF_FAILURE } from "../problems/api-failure.ts";
import { PayloadTooLarge } from "../problems/http-failures.ts";
import {
  PROBLEM_MEDIA_TYPE,
  type Problem,
  problemDocument,
  problemStatus,
} from "../problems/problem.ts";
import { bodyBytes, decodeUtf8, MAX_BODY_BYTES } from "../request/request-body.ts";
import {
  ADD_CHECKPOINT_PATH,
  REFUSED_PATH,
  refusedRecord,
  witnessRefusal,
} from "./witness-answers.ts";

/** What a witness that runs by itself answers with. */
type Answering = {
  readonly addCheckpoint: NonNullable<Witness["Service"]["addCheckpoint"]>;
  readonly refused: NonNullable<Witness["Service"]["refused"]>;
};

const METHODS: Readonly<Record<string, string>> = {
  [ADD_CHECKPOINT_PATH]: "POST",
  [REFUSED_PATH]: "GET",
};

const problemResponse = (problem: Problem): Response =>
  new Response(problemDocument(problem, crypto.randomUUID()), {
    status: problemStatus(problem),
    headers: { "content-type": PROBLEM_MEDIA_TYPE, ...problem.headers },
  });

const answerResponse = (answer: WitnessAnswer): Response =>
  answer.kind === "cosigned"
    ? new Response(answer.lines, { headers: { "content-type": "text/plain; charset=utf-8" } })
    : new Response(printTlogSize(answer.size), {
        status: 409,
        headers: { "content-type": TLOG_SIZE_TYPE },
      });

const refusalOf = (failure: WitnessFailure): Problem => ({
  code: CODE_OF_FAILURE[failure._tag],
  ...witnessRefusal(failure),
});

/** Answers a request to a witness that runs by itself, as the service's operation does. Never rejects. */
export const witnessHandler =
  (
    { addCheckpoint, refused }: Answering,
    run: typeof Effect.runPromiseExit = Effect.runPromiseExit,
  ) =>
  async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const method = METHODS[pathname];
    if (method === undefined)
      return problemResponse({ code: "route_not_found", detail: "No operation has this path." });
    if (request.method !== method)
      return problemResponse({
        code: "method_not_allowed",
        detail: `This path has the method ${method}.`,
        headers: { allow: method },
      });
    const shown = Effect.map(refused, (all) => Response.json(refusedRecord(all)));
    const judged = Effect.gen(function* () {
      const bytes = yield* Effect.result(bodyBytes(request, MAX_BODY_BYTES));
      if (Result.isFailure(bytes))
        return bytes.failure instanceof PayloadTooLarge
          ? problemResponse({
              code: "payload_too_large",
              detail: `The body may have at most ${MAX_BODY_BYTES} bytes.`,
              headers: { connection: "close" },
            })
          : problemResponse(refusalOf(new CheckpointMalformed({ detail: "the body broke off" })));
      const text = decodeUtf8(bytes.success);
      if (text === undefined)
        return problemResponse(
          refusalOf(new CheckpointMalformed({ detail: "the body is not UTF-8" })),
        );
      return answerResponse(yield* addCheckpoint(text));
    });
    const exit = await run(pathname === REFUSED_PATH ? shown : judged);
    if (Exit.isSuccess(exit)) return exit.value;
    return Option.match(Cause.findErrorOption(exit.cause), {
      onSome: (failure) => problemResponse(refusalOf(failure)),
      onNone: () =>
        problemResponse({ code: "internal_error", detail: "Something failed that should not." }),
    });
  };
