import type {
  WitnessFailure,
  WitnessLack,
} from "../../../core/use-cases/witness/witness-errors.ts";
import { capitalised } from "../problems/capitalised.ts";
import type { Problem } from "../problems/problem.ts";

const LACKS: Readonly<Record<WitnessLack, string>> = {
  node_behind: "The witness's node has not finalized as many events yet.",
  node_ahead:
    "The witness's node has finalized more events, and the log does not serve the entries up to there yet.",
  node_unavailable: "The witness's node gave no usable answer.",
  node_contradicts_itself: "The witness's node gave two different answers for one count of events.",
  log_unavailable: "The log does not serve the entries of its checkpoint.",
  replay_unfinished: "The log's entries are many; the next request goes on.",
  another_request: "Another checkpoint of this log is being judged.",
  state_unavailable: "The witness's state cannot be read or written.",
};

/** What a problem says of a witness's refusal, without its code. */
export const witnessRefusal = (failure: WitnessFailure): Omit<Problem, "code"> => {
  switch (failure._tag) {
    case "CheckpointMalformed":
    case "LogUnknown":
    case "CheckpointRefused":
      return { detail: `${capitalised(failure.detail)}.` };
    case "LogSignatureInvalid":
      return { detail: "The log's key did not sign this checkpoint." };
    case "WitnessNotReady":
      return {
        detail: LACKS[failure.lack],
        headers: { "retry-after": String(failure.retrySeconds) },
      };
  }
};
