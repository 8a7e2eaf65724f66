import type { SettlementError } from "../../../client/settlement-error.ts";

/** What a promise fails with. @throws Error when it does not fail. */
export const failureOf = (promise: Promise<unknown>): Promise<SettlementError> =>
  promise.then(
    () => {
      throw new Error("it did not fail");
    },
    (cause: unknown) => cause as SettlementError,
  );
