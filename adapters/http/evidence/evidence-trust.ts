import { Effect } from "effect";
import { evidenceKeys, evidenceTrust } from "../../../core/use-cases/evidence/evidence-trust.ts";
import { endpoint } from "../server/endpoint.ts";
import {
  EvidenceTrust,
  evidenceTrustExample,
  evidenceTrustRecord,
  JsonWebKeySet,
  keySetExample,
  keySetRecord,
} from "./evidence-trust-contract.ts";

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
}).handle(() => Effect.map(evidenceKeys, (keys) => ({ json: keySetRecord(keys) })));

/** `GET /.well-known/evidence-trust.json` */
export const evidenceTrustEndpoint = endpoint({
  method: "GET",
  path: "/.well-known/evidence-trust.json",
  operationId: "readEvidenceTrust",
  tag: "Evidence",
  summary: "What a verifier pins beforehand",
  description:
    "Keys, ledger, programs and supported mints. Obtain it before the packet and keep it, because a key inside a packet proves nothing by itself.",
  budget: "reads",
  answers: {
    200: {
      description: "The trust document.",
      content: {
        "application/json": {
          schema: EvidenceTrust,
          example: evidenceTrustExample,
        },
      },
    },
  },
  problems: ["ledger_unavailable", "ledger_timeout"],
}).handle(() => Effect.map(evidenceTrust, (trust) => ({ json: evidenceTrustRecord(trust) })));
