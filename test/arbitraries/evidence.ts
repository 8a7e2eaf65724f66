import { NO_PINS } from "../../core/domain/ledger/deployment.ts";
import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import type { Arbitrary } from "fast-check";
import { addressFromBytes } from "../../core/domain/address.ts";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { ed25519Jwk, evidenceDigest } from "../../core/domain/evidence/evidence-signature.ts";
import { encodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { evidenceData, type EvidenceNetwork } from "../../core/protocol/evidence/evidence-data.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import type { LogProof } from "../../core/use-cases/log/serving/read-log.ts";
import { attestedBy } from "../doubles/attested.ts";
import { SUPPORTED_MINT, usdc } from "../core/use-cases/test-instance.ts";
import { anyEscrow } from "./escrow.ts";

/** An OpenSSL Ed25519 key from a seed of 32 equal bytes. */
export const ed25519Key = (seedByte: number) => {
  const seed = Buffer.alloc(32, seedByte);
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  return {
    publicKey: new Uint8Array(spki.subarray(-32)),
    sign: (message: Uint8Array) => new Uint8Array(sign(null, message, key)),
  };
};

/** The keys of the service and of the attestor in these packets. */
export const SERVICE_KEY = ed25519Key(1);
export const ATTESTOR_KEY = ed25519Key(2);

/** The ledger of these packets. */
export const NETWORK: EvidenceNetwork = {
  ...LOCAL_DEPLOYMENT,
  cluster: "localnet",
  genesisHash: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
};

/** The policy of a verifier who trusts the service's key and ledger. */
export const TRUST: TrustPolicy = {
  ...NETWORK,
  keys: [{ ...ed25519Jwk(SERVICE_KEY.publicKey), status: "current" }],
  supportedMints: [usdc(SUPPORTED_MINT)],
  programPins: NO_PINS,
  logOnLedger: null,
  logAppendOnly: null,
};

/** The escrow, with its attestation (if any) really signed by the attestor for a ledger. */
export const attested = (escrow: Escrow, network = NETWORK): Escrow => {
  if (escrow.attestation === null) return escrow;
  const attestor = addressFromBytes(ATTESTOR_KEY.publicKey);
  return attestedBy({ ...escrow, attestor }, network, ATTESTOR_KEY.sign);
};

/** Any escrow of the local deployment whose attestation verifies. */
export const anyAttestedEscrow: Arbitrary<Escrow> = anyEscrow(LOCAL_DEPLOYMENT).map((escrow) =>
  attested(escrow),
);

/** The first second at which the ledger's clock can have shown an escrow as it is, Pending or settled. */
export const earliestView = ({ createdAt, attestation, closesAt }: Escrow): bigint =>
  [(attestation?.attestedAt ?? createdAt) - 30n, (closesAt ?? createdAt) - 900n].reduce(
    (latest, time) => (time > latest ? time : latest),
    createdAt,
  );

/** The evidence packet of an escrow of a ledger as JSON text, signed with the service's key. */
export const packetText = (
  escrow: Escrow,
  at = { slot: 7n, ledgerTime: earliestView(escrow) },
  log: LogProof | null = null,
  network = NETWORK,
): string => {
  const account = { owner: network.custodyProgram, data: encodeEscrowAccount(escrow) };
  const data = evidenceData({ network, escrow, account, ...at });
  const { digest, signedBytes } = evidenceDigest(data);
  return JSON.stringify({
    data,
    signature: {
      status: "signed",
      digest_sha256: digest,
      algorithm: "ed25519",
      key_id: ed25519Jwk(SERVICE_KEY.publicKey).kid,
      public_key: encodeBase64(SERVICE_KEY.publicKey),
      signature: encodeBase64(SERVICE_KEY.sign(signedBytes)),
    },
    references: {
      transactions: [],
      merchant: null,
      observed: null,
      archived: null,
      log,
      not_found: ["merchant"],
    },
  });
};
