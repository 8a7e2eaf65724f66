import { oneOf } from "../../openapi/values.ts";

/** The schema of a state, of the service or of one of its parts. */
export const PartState = oneOf(
  ["online", "degraded"],
  "`degraded` when a dependency does not work or is not known to work.",
);
