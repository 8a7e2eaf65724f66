import { Effect } from "effect";
import { RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import { NEVER_RUNS } from "../../protocol/transaction/never-runs.ts";
import { MAX_TRANSACTION_BYTES } from "../../protocol/transaction/wire-transaction.ts";
import { Instance } from "../../../ports/instance.ts";
import { MAX_OWED_WINDOWS, RateLimiter } from "../../../ports/rate-limiter.ts";
import { allowedPrograms } from "./relay-admission.ts";

/** Every rule and limit of the relay, from the code that enforces them. */
export const readRelayPolicy = Effect.gen(function* () {
  const { deployment, confirmTimeoutMs, enforceBetaLimits } = yield* Instance;
  const { limits, windowSeconds } = yield* RateLimiter;
  return {
    ...RELAY_POLICY,
    maxTransactionBytes: MAX_TRANSACTION_BYTES,
    neverSkipped: NEVER_RUNS,
    requiredPrograms: [deployment.custodyProgram, deployment.attestorProgram],
    allowedPrograms: allowedPrograms(deployment),
    confirmTimeoutMs,
    enforceBetaLimits,
    rateLimit: { requests: limits.relay, windowSeconds, maxOwedWindows: MAX_OWED_WINDOWS },
  };
});
