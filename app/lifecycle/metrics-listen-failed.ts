import { Data } from "effect";
import type { ListenFailed } from "../../adapters/http/server/serve-http.ts";

/** The port for the metrics could not be taken. */
export class MetricsListenFailed extends Data.TaggedError("MetricsListenFailed")<{
  readonly cause: ListenFailed;
}> {}
