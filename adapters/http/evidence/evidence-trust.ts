import { Effect } from "effect";
import { ed25519Jwk } from "../../../core/domain/evidence/jwk.ts";
import { evidenceKeys, evidenceTrust } from "../../../core/use-cases/evidence/evidence-trust.ts";
import { endpoint } from "../server/endpoint.ts";
import { SAMPLE, sampleParties } from "../openapi/sample-values.ts";
import { EvidenceTrust, JsonWebKeySet } from "../schemas/evidence-trust.ts";

const keySetExample = () => ({
  keys: [{ ...ed25519Jwk(sampleParties().evidenceKey.publicKey), status: "current" }],
});

/** `GET /.well-known/jwks.json` */
export const evidenceKeysEndpoint = endpoint({
  method: "GET",
  path: "/.well-known/jwks.json",
  operationId: "listEvidenceKeys",
  tag: "Evidence",
  summary: "The service's evidence keys",
  description:
    "Current and former keys as JSON Web Keys (RFC 7517, RFC 8037), the current one first.",
  budget: "reads",
  answers: {
    200: {
      description: "The key set; empty when packets are unsigned.",
      content: { "application/json": { schema: JsonWebKeySet, example: keySetExample } },
    },
  },
  problems: [],
  handle: () => Effect.map(evidenceKeys, (keys) => ({ json: { keys } })),
});

/** `GET /.well-known/evidence-trust.json` */
export const evidenceTrustEndpoint = endpoint({
  method: "GET",
  path: "/.well-known/evidence-trust.json",
  operationId: "readEvidenceTrust",
  tag: "Evidence",
  summary: "What a verifier pins beforehand",
  description:
    "Keys, ledger and programs. Obtain it before the packet and keep it: a key inside a packet is never trusted by itself.",
  budget: "reads",
  answers: {
    200: {
      description: "The trust document.",
      content: {
        "application/json": {
          schema: EvidenceTrust,
          example: () => ({
            jwks: keySetExample(),
            genesis_hash: SAMPLE.genesisHash,
            cluster: "localnet",
            custody_program: SAMPLE.deployment.custodyProgram,
            attestor_program: SAMPLE.deployment.attestorProgram,
          }),
        },
      },
    },
  },
  problems: ["ledger_unavailable", "ledger_timeout"],
  handle: () =>
    Effect.map(evidenceTrust, (trust) => ({
      json: {
        jwks: { keys: trust.keys },
        genesis_hash: trust.genesisHash,
        cluster: trust.cluster,
        custody_program: trust.custodyProgram,
        attestor_program: trust.attestorProgram,
      },
    })),
});
