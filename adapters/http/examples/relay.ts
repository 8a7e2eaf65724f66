import { ed25519 } from "@noble/curves/ed25519.js";
import { Effect } from "effect";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { ledgerSignatureFromBytes } from "../../../core/domain/ledger/signature.ts";
import { readRelayPolicy } from "../../../core/use-cases/relay/relay-policy.ts";
import { Instance } from "../../../ports/instance.ts";
import { type RateDecision, RateLimiter } from "../../../ports/rate-limiter.ts";
import { relayOutcomeRecord, relayPolicyRecord, relayResultRecord } from "../records/relay.ts";
import { sampleInstance } from "../openapi/sample-instance.ts";
import { SAMPLE, sampleParties } from "../openapi/sample-values.ts";

const ALLOWED: RateDecision = {
  allowed: true,
  limit: 120,
  windowSeconds: 60,
  remaining: 119,
  resetSeconds: 60,
};

const sampleLimiter = RateLimiter.of({
  take: () => Effect.succeed(ALLOWED),
  charge: () => Effect.void,
  limits: { reads: 1200, prepare: 600, relay: 120, sync: 20 },
  windowSeconds: 60,
});

/** The policy of the sample instance. */
export const relayPolicyExample = () =>
  relayPolicyRecord(
    Effect.runSync(
      readRelayPolicy.pipe(
        Effect.provideService(Instance, sampleInstance()),
        Effect.provideService(RateLimiter, sampleLimiter),
      ),
    ),
  );

/** A body of the right form; its transaction is 64 bytes of nothing behind one signature. */
export const relayRequestExample = () => ({
  signed_transaction: encodeBase64(Uint8Array.of(1, ...new Uint8Array(64))),
  confirm: true,
});

/** A relayed transaction that was confirmed. */
export const relayResultExample = () => {
  const { agent, evidenceKey } = sampleParties();
  const bytes = ed25519.sign(new TextEncoder().encode("example"), evidenceKey.secret);
  return relayResultRecord(
    {
      signature: ledgerSignatureFromBytes(bytes),
      status: "confirmed",
      slot: SAMPLE.slot,
      feePayer: agent,
    },
    sampleInstance(),
  );
};

/** A transaction that failed for good, so that the payment may be signed again. */
export const relayOutcomeExample = () => {
  const { evidenceKey } = sampleParties();
  const bytes = ed25519.sign(new TextEncoder().encode("example"), evidenceKey.secret);
  const instance = sampleInstance();
  return relayOutcomeRecord(
    {
      signature: ledgerSignatureFromBytes(bytes),
      status: "landed",
      commitment: "finalized",
      slot: SAMPLE.slot,
      error: {
        kind: "InstructionError",
        instructionIndex: 1,
        instructionError: "Custom",
        customCode: 6025,
      },
      program: instance.deployment.custodyProgram,
      logs: [],
      lastValidBlockHeight: SAMPLE.slot + 150n,
      safeToSignAgain: true,
    },
    instance,
  );
};
