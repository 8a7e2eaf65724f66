import { type Static, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { ed25519Jwk } from "../../../core/domain/evidence/evidence-signature.ts";
import { TRUST_VERSION } from "../../../core/domain/evidence/evidence-check.ts";
import {
  evidenceKeys,
  evidenceTrust,
  type PublishedKey,
} from "../../../core/use-cases/evidence/evidence-trust.ts";
import { sampleInstance } from "../openapi/sample-ledger.ts";
import { SAMPLE, sampleParties } from "../openapi/sample-values.ts";
import { Address, Hash, nullable, oneOf, record, SupportedMint } from "../openapi/values.ts";
import { endpoint } from "../server/endpoint.ts";

const JsonWebKey = record("JsonWebKey", "An Ed25519 key that signs or signed evidence.", {
  kty: Type.Literal("OKP"),
  crv: Type.Literal("Ed25519"),
  alg: Type.Literal("Ed25519"),
  use: Type.Literal("sig"),
  kid: Type.String({ description: "RFC 7638 thumbprint." }),
  x: Type.String({ description: "32 bytes, base64url." }),
  status: oneOf(["current", "retired", "revoked"], "Whether to trust packets that it signed."),
  exp: Type.Optional(
    Type.Integer({ description: "When it stopped being current, seconds since 1970." }),
  ),
});

/** A set of keys (RFC 7517, section 5). */
const JsonWebKeySet = record("JsonWebKeySet", "The service's evidence keys.", {
  keys: Type.Array(JsonWebKey),
});
/** The evidence keys as a JSON Web Key Set (RFC 7517, section 5). */
type JsonWebKeySetRecord = Static<typeof JsonWebKeySet>;

const pinsMember = (program: string) =>
  Type.Optional(
    Type.Array(Hash("SHA-256 of an ELF without the zero bytes at its end."), {
      minItems: 1,
      description: `What the ${program} program on the ledger may be. Absent: the operator pins nothing.`,
    }),
  );

/** What a verifier of packets pins beforehand. */
const EvidenceTrust = record("EvidenceTrust", "What a verifier pins beforehand.", {
  version: Type.Literal(TRUST_VERSION, {
    description: "A verifier refuses versions and members that it does not know.",
  }),
  jwks: JsonWebKeySet,
  genesis_hash: Type.String(),
  cluster: Type.String(),
  custody_program: Address("The custody program."),
  attestor_program: Address("The attestor program."),
  custody_program_sha256: pinsMember("custody"),
  attestor_program_sha256: pinsMember("attestor"),
  supported_mints: Type.Array(SupportedMint, {
    description: "A payment in any other mint adds `mint_value` to a verdict's `unproven`.",
  }),
  log_on_ledger: nullable(Type.String({ minLength: 1 }), {
    description:
      "A C2SP tlog-policy: the logs, and witnesses that compare them with a node of their own. Its quorum alone proves an account. Null: none.",
  }),
  log_append_only: nullable(Type.String({ minLength: 1 }), {
    description:
      "The same logs, and witnesses that only see that they grow. No key is in both. Null: none.",
  }),
});
/** The trust document as JSON. */
export type EvidenceTrustRecord = Static<typeof EvidenceTrust>;

/** Published evidence keys as JSON. */
const keySetRecord = (keys: ReadonlyArray<PublishedKey>): JsonWebKeySetRecord => ({
  keys: [...keys],
});

/** A member of pins; absent without any, since verifiers refuse an empty list. */
const pinned = <const Name extends string>(name: Name, pins: ReadonlyArray<string>) =>
  (pins.length === 0 ? {} : { [name]: [...pins] }) as { [_ in Name]?: Array<string> };

/** What a verifier pins beforehand as JSON. */
const evidenceTrustRecord = (trust: Effect.Success<typeof evidenceTrust>): EvidenceTrustRecord => ({
  version: TRUST_VERSION,
  jwks: keySetRecord(trust.keys),
  genesis_hash: trust.genesisHash,
  cluster: trust.cluster,
  custody_program: trust.custodyProgram,
  attestor_program: trust.attestorProgram,
  ...pinned("custody_program_sha256", trust.programPins.custody),
  ...pinned("attestor_program_sha256", trust.programPins.attestor),
  supported_mints: [...trust.supportedMints],
  log_on_ledger: trust.logOnLedger,
  log_append_only: trust.logAppendOnly,
});

const sampleKeys = (): ReadonlyArray<PublishedKey> => [
  { ...ed25519Jwk(sampleParties().evidenceKey.publicKey), status: "current" },
];

/** The key set of a service that has had one key. */
const keySetExample = () => keySetRecord(sampleKeys());

/** What a verifier of the sample's packets pins beforehand. */
const evidenceTrustExample = () =>
  evidenceTrustRecord({
    keys: [...sampleKeys()],
    genesisHash: SAMPLE.genesisHash,
    cluster: "localnet",
    custodyProgram: SAMPLE.deployment.custodyProgram,
    attestorProgram: SAMPLE.deployment.attestorProgram,
    programPins: sampleInstance().programPins,
    supportedMints: sampleInstance().supportedMints,
    logOnLedger: null,
    logAppendOnly: null,
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
}).handle(() => Effect.map(evidenceKeys, (keys) => ({ json: keySetRecord(keys) })));

/** `GET /.well-known/evidence-trust.json` */
export const evidenceTrustEndpoint = endpoint({
  method: "GET",
  path: "/.well-known/evidence-trust.json",
  operationId: "readEvidenceTrust",
  tag: "Evidence",
  summary: "What a verifier pins beforehand",
  description:
    "Keys, ledger, programs, supported mints, and the log's witnesses by what they state. Obtain it before the packet and keep it, because a key inside a packet proves nothing by itself.",
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
  problems: ["ledger_unavailable", "ledger_timeout", "store_unavailable"],
}).handle(() => Effect.map(evidenceTrust, (trust) => ({ json: evidenceTrustRecord(trust) })));
