import { Effect } from "effect";
import type { FieldFault } from "../../../core/use-cases/request-errors.ts";
import {
  InvalidRequest,
  InvalidRequestAddress,
  RequestBeyondBetaLimit,
  type RequestFault,
} from "../problems/http-failures.ts";

type Failed<Field extends string> = { readonly faults: ReadonlyArray<FieldFault<Field>> };

/**
 * Handlers for the failures of a use case, each for the tag of its name. They name the place in a route's request that holds a
 * field: a JSON pointer (RFC 6901) into the body, `?name` for a query parameter, `/name` for a path parameter. A
 * failure that can name a field without a pointer does not compile.
 */
export const fieldPointers = <Field extends string>(pointers: Readonly<Record<Field, string>>) => {
  const located = ({
    faults,
  }: Failed<Field>): { readonly faults: ReadonlyArray<RequestFault> } => ({
    faults: faults.map(({ field, inside = "", detail }) => ({
      pointer: `${pointers[field]}${inside}`,
      detail,
    })),
  });
  return {
    validationFailed: (failed: Failed<Field>) => Effect.fail(new InvalidRequest(located(failed))),
    invalidAddress: (failed: Failed<Field>) =>
      Effect.fail(new InvalidRequestAddress(located(failed))),
    betaLimitExceeded: (failed: Failed<Field>) =>
      Effect.fail(new RequestBeyondBetaLimit(located(failed))),
  };
};
