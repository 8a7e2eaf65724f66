import { Effect, Ref } from "effect";
import { type Ed25519Jwk, ed25519Jwk } from "../../domain/evidence/evidence-signature.ts";
import { type EvidenceKey, EvidenceSigner } from "../../../ports/evidence-signer.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import type { LogPolicy } from "../../log/policy/log-policy.ts";
import { printLogPolicy } from "../../log/policy/print-log-policy.ts";
import { logKeysOf } from "../log/log-standing.ts";
import { SettlementLog } from "../log/serving/published-log.ts";
import { WitnessPolicies } from "../log/witness-policies.ts";

/** A published evidence key and its status. */
export type PublishedKey = Ed25519Jwk & {
  readonly status: EvidenceKey["status"];
  /** When it stopped being current, Unix seconds; absent for the current key. */
  readonly exp?: number;
};

const publish = ({ publicKey, status, endedAtMs }: EvidenceKey): PublishedKey => ({
  ...ed25519Jwk(publicKey),
  status,
  ...(endedAtMs === null ? {} : { exp: Math.floor(endedAtMs / 1000) }),
});

/** The service's evidence keys, the current one first. */
export const evidenceKeys = Effect.gen(function* () {
  const { current, former } = yield* EvidenceSigner;
  return [...(current === null ? [] : [current]), ...former].map(publish);
});

const NO_LOGS = { logOnLedger: null, logAppendOnly: null };

/** The witnesses that this service asks, by what they state, under the keys of the log that they cosign. */
const trustedLogs = Effect.gen(function* () {
  const { onLedger, appendOnly } = yield* Ref.get(yield* WitnessPolicies);
  if (onLedger === null && appendOnly === null) return NO_LOGS;
  const { published } = yield* SettlementLog;
  const log = yield* published;
  if (log === null) return NO_LOGS;
  const logs = logKeysOf(log.standing).map((key) => ({ key, url: null }));
  const text = (policy: LogPolicy | null) => policy && printLogPolicy({ ...policy, logs });
  return { logOnLedger: text(onLedger), logAppendOnly: text(appendOnly) };
});

/**
 * What a verifier pins beforehand: keys, ledger, programs, supported mints, and the log's witnesses once the log has
 * signed. Fails like a read of the ledger, and like the store. See docs/evidence.md, "Evidence packet".
 */
export const evidenceTrust = Effect.gen(function* () {
  const { deployment, programPins, cluster, supportedMints } = yield* Instance;
  const ledger = yield* Ledger;
  return {
    keys: yield* evidenceKeys,
    genesisHash: yield* ledger.genesisHash,
    cluster,
    custodyProgram: deployment.custodyProgram,
    attestorProgram: deployment.attestorProgram,
    programPins,
    supportedMints,
    ...(yield* trustedLogs),
  };
});
