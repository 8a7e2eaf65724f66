import { Effect } from "effect";
import { type Ed25519Jwk, ed25519Jwk } from "../../domain/evidence/evidence-signature.ts";
import { type EvidenceKey, EvidenceSigner } from "../../../ports/evidence-signer.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";

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

/**
 * What a verifier pins beforehand: keys, ledger, programs and supported mints. Fails like a read of the ledger.
 * See docs/protocol.md, "Evidence packet".
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
    logOnLedger: null,
    logAppendOnly: null,
  };
});
