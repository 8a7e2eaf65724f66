import type { RefusedOfLog } from "../../../core/use-cases/witness/witness.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type {
  WitnessFailure,
  WitnessLack,
} from "../../../core/use-cases/witness/witness-errors.ts";
import { capitalised } from "../problems/problem-kind.ts";
import type { Problem } from "../problems/problem.ts";

// What a witness in the service and one by itself share. It imports no schemas: a witness by itself is to be small.

/** The path that C2SP tlog-witness adds to a witness's address, `<service>/witness`. */
export const ADD_CHECKPOINT_PATH = "/witness/add-checkpoint";

/** Where a witness shows what it refused, `<service>/witness/refused`. */
export const REFUSED_PATH = "/witness/refused";

/** What was refused, as JSON. */
export const refusedRecord = (refused: ReadonlyArray<RefusedOfLog>) => ({
  refused: refused.map(({ origin, reason, checkpoint, config }) => ({
    origin,
    reason,
    checkpoint,
    config:
      config === undefined
        ? null
        : {
            slot: Number(config.slot),
            owner: config.owner,
            data_base64: encodeBase64(config.data),
          },
  })),
});

const LACKS: Readonly<Record<WitnessLack, string>> = {
  node_behind: "The witness's node has not finalized as many events yet.",
  node_ahead:
    "The witness's node has finalized more events, and the log does not serve the tiles that lead there yet.",
  node_unavailable: "The witness's node gave no usable answer.",
  node_contradicts_itself: "The witness's node gave two different answers for one size of the log.",
  node_rolled_back: "The witness's node shows fewer events than the witness has cosigned.",
  log_unavailable: "The log does not answer.",
  another_request: "Another checkpoint of this log is being judged.",
  state_unavailable: "The witness's state cannot be read or written.",
  key_unavailable: "Whoever holds the witness's key gives no signature now.",
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
