import { ed25519Jwk } from "../../../core/domain/evidence/jwk.ts";
import { evidenceRecord } from "../../../adapters/http/evidence/evidence-contract.ts";
import { NETWORK, SERVICE_KEY } from "../../arbitraries/evidence.ts";
import { GOLDEN_ESCROWS } from "../../core/use-cases/escrow/golden-escrows.ts";
import { goldenPacket } from "../../core/use-cases/evidence/golden-packets.ts";
import { acceptingVectors, RETIRED_KEY } from "./accepting-vectors.ts";
import { accountVectors, fieldVectors } from "./rejecting-account.ts";
import { claimVectors, decisionVectors } from "./rejecting-claim.ts";
import { networkVectors, REVOKED_KEY, signatureVectors } from "./rejecting-signature.ts";
import { formVectors } from "./rejecting-form.ts";

const trust = {
  jwks: {
    keys: [
      { ...ed25519Jwk(SERVICE_KEY.publicKey), status: "current" },
      { ...ed25519Jwk(RETIRED_KEY.publicKey), status: "retired", exp: 1_785_542_400 },
      { ...ed25519Jwk(REVOKED_KEY.publicKey), status: "revoked", exp: 1_785_542_400 },
    ],
  },
  genesis_hash: NETWORK.genesisHash,
  cluster: NETWORK.cluster,
  custody_program: NETWORK.custodyProgram,
  attestor_program: NETWORK.attestorProgram,
};

const text = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Packets that every verifier must reject under trust.json. Each has one fault. */
const rejectingVectors = () => [
  ...formVectors(),
  ...signatureVectors(),
  ...networkVectors(),
  ...accountVectors(),
  ...fieldVectors(),
  ...claimVectors(),
  ...decisionVectors(),
];

/** Every generated file of test/vectors/evidence, by its name. Each call returns the same. */
export const vectorFiles = (): ReadonlyMap<string, string> =>
  new Map([
    ["trust.json", text(trust)],
    ...GOLDEN_ESCROWS.map(
      (golden) => [`${golden.name}.json`, text(evidenceRecord(goldenPacket(golden)))] as const,
    ),
    ["accepting.json", text(acceptingVectors())],
    ["rejecting.json", text(rejectingVectors())],
  ]);
