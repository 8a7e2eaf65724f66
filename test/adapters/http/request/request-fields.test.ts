import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { fieldsOf } from "../../../../adapters/http/request/request-fields.ts";
import { endpoint } from "../../../../adapters/http/server/endpoint.ts";
import {
  BetaLimitExceeded,
  InvalidAddress,
  ValidationFailed,
} from "../../../../core/use-cases/request-errors.ts";

const detail = "is wrong";

const asked = {
  method: "POST",
  path: "/rows/{pda}",
  operationId: "askRow",
  tag: "Rows",
  summary: "A row",
  description: "A row.",
  budget: null,
  params: { pda: Type.String() },
  query: Type.Object({ transaction: Type.Optional(Type.Boolean()) }),
  body: {
    schema: Type.Object({ amount_stroops: Type.String(), task_intent: Type.String() }),
    example: () => ({ amount_stroops: "1", task_intent: "a" }),
  },
  places: { payer: "/account" },
  answers: { 200: { description: "Nothing.", content: {} } },
  problems: ["invalid_address"],
} as const;
const { handle } = endpoint(asked);

/** What a request fails with whose use case fails so. */
const failureOf = (failing: Parameters<typeof handle>[0]) => {
  const { handle: answer } = handle(failing);
  const input = { params: { pda: "" } } as unknown as Parameters<typeof answer>[0];
  return Effect.runSync(Effect.flip(answer(input)) as Effect.Effect<unknown>);
};

test("a field becomes the place in the request that fills it", () => {
  const fields = ["amount", "taskIntent", "pda", "wantsTransaction", "payer"] as const;
  const faults = fields.map((field) => ({ field, detail }));
  const inside = { field: "taskIntent", inside: "/a/0", detail } as const;
  expect(failureOf(() => new ValidationFailed([...faults, inside]))).toMatchObject({
    _tag: "InvalidRequest",
    faults: [
      { pointer: "/amount_stroops", detail },
      { pointer: "/task_intent", detail },
      { pointer: "/pda", detail },
      { pointer: "?transaction", detail },
      { pointer: "/account", detail },
      { pointer: "/task_intent/a/0", detail },
    ],
  });
  expect(failureOf(() => new InvalidAddress([{ field: "pda", detail }]))).toMatchObject({
    _tag: "InvalidRequestAddress",
    faults: [{ pointer: "/pda", detail }],
  });
});

test("a failure with a field that nothing fills, or with a problem that is not declared, does not compile", () => {
  const refused = [
    // @ts-expect-error No member fills `nonce`.
    // @effect-diagnostics-next-line missingEffectError:off
    handle(() => new ValidationFailed([{ field: "nonce", detail }])),
    // @ts-expect-error No member fills `mint` either.
    // @effect-diagnostics-next-line missingEffectError:off
    handle(() => new InvalidAddress([{ field: "mint", detail }])),
    // @ts-expect-error `beta_limit_exceeded` is not among the problems.
    // @effect-diagnostics-next-line missingEffectError:off
    handle(() => new BetaLimitExceeded({ faults: [{ field: "amount", detail }] })),
  ];
  expect(refused).toHaveLength(3);
});

test("members become fields of their names, and null counts as absent", () => {
  expect(
    fieldsOf({ amount_stroops: "1", task_intent: null, transaction: true, payer: "a" }),
  ).toEqual({ amount: "1", taskIntent: undefined, wantsTransaction: true, payer: "a" });
});
