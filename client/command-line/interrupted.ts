import process from "node:process";
import { SettlementError } from "../settlement-error.ts";

/** A signal that is aborted by Ctrl-C or SIGTERM. A second Ctrl-C ends the process at once. */
export const interrupted = (): AbortSignal => {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.once(name, () =>
      controller.abort(
        new SettlementError(
          "interrupted",
          `Interrupted by ${name}.`,
          "Run the same again: it goes on, and nothing is paid twice.",
        ),
      ),
    );
  return controller.signal;
};
