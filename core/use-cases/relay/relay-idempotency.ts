import { sha256 } from "../../domain/sha256.ts";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { Clock, Effect, Exit } from "effect";
import { RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import { OutcomeLog } from "../../../ports/outcome-log.ts";
import { chargeRepetition } from "./relay-admission.ts";
import { IdempotencyKeyInFlight, IdempotencyKeyReused } from "./relay-errors.ts";

/** A client's key for one request. Repetitions get the first answer. */
export type Idempotency = {
  readonly client: string;
  readonly key: string;
  /** The whole request as text. */
  readonly request: string;
};

/**
 * Runs a request once for its Idempotency-Key. A repetition gets the recorded answer. It fails when the key was used for another
 * request, or while the first request still runs, which costs a read. A failed request releases its key: nothing was sent, or the signature
 * itself prevents a second sending.
 */
export const answerOnce = <A, E, R>(
  idempotency: Idempotency,
  text: { readonly encode: (answer: A) => string; readonly decode: (text: string) => A },
  run: Effect.Effect<A, E, R>,
) =>
  Effect.gen(function* () {
    const log = yield* OutcomeLog;
    const { client, key, request } = idempotency;
    const nowMs = yield* Clock.currentTimeMillis;
    const claim = yield* log.claimKey({
      client,
      key,
      fingerprint: bytesToHex(sha256(utf8ToBytes(request))),
      nowMs,
      forgottenBeforeMs: nowMs - RELAY_POLICY.idempotencyKeyTtlMs,
    });
    switch (claim.status) {
      case "answered":
        return text.decode(claim.answer);
      case "reused":
        return yield* new IdempotencyKeyReused();
      case "in_flight":
        yield* chargeRepetition(client);
        return yield* new IdempotencyKeyInFlight();
      case "claimed":
        return yield* run.pipe(
          // The answer is returned even if the store cannot keep it, because the signature makes a repetition safe.
          Effect.onExit((exit) =>
            Effect.ignore(
              log.answerKey({ client, key }, Exit.isSuccess(exit) ? text.encode(exit.value) : null),
            ),
          ),
        );
    }
  });
