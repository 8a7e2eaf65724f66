import { expect, test } from "bun:test";
import { Effect } from "effect";
import { fieldPointers } from "../../../../adapters/http/request/request-fields.ts";
import {
  type InvalidAddress,
  ValidationFailed,
} from "../../../../core/use-cases/request-errors.ts";

const detail = "is wrong";

/** Fails with any of three fields, one of them with a pointer inside. */
const useCase: Effect.Effect<
  never,
  ValidationFailed<"amount" | "payload"> | InvalidAddress<"mint">
> = Effect.fail(
  new ValidationFailed([
    { field: "amount", detail },
    { field: "payload", inside: "/a/0", detail },
  ]),
);

test("a field becomes the pointer to its place in the request", () => {
  const pointers = fieldPointers({ amount: "?amount", payload: "/payload", mint: "/mint" });
  const failure = Effect.runSync(
    Effect.flip(
      useCase.pipe(
        Effect.catchTags({
          ValidationFailed: pointers.validationFailed,
          InvalidAddress: pointers.invalidAddress,
        }),
      ),
    ),
  );
  expect(failure).toMatchObject({
    _tag: "InvalidRequest",
    faults: [
      { pointer: "?amount", detail },
      { pointer: "/payload/a/0", detail },
    ],
  });
});

test("a failure with a field that has no pointer does not compile", () => {
  const pointers = fieldPointers({ amount: "/amount", mint: "/mint" });
  // @ts-expect-error `payload` has no pointer.
  const mapped = useCase.pipe(Effect.catchTag("ValidationFailed", pointers.validationFailed));
  expect(Effect.isEffect(mapped)).toBe(true);
  const located = useCase.pipe(Effect.catchTag("InvalidAddress", pointers.invalidAddress));
  expect(Effect.isEffect(located)).toBe(true);
});
