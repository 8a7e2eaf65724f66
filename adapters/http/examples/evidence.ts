import { ed25519 } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { evidenceDigest } from "../../../core/domain/evidence/evidence-signature.ts";
import { jwkThumbprint } from "../../../core/domain/evidence/jwk.ts";
import { ledgerSignatureFromBytes } from "../../../core/domain/ledger/signature.ts";
import { eventsOf } from "../../../core/domain/index/settlement-event.ts";
import { encodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import { evidenceData } from "../../../core/protocol/evidence/evidence-data.ts";
import { evidenceRecord } from "../records/evidence.ts";
import { SAMPLE, sampleEscrow, sampleMerchant, sampleParties } from "../openapi/sample-values.ts";

const signatureExample = (word: string) =>
  ledgerSignatureFromBytes(sha512(new TextEncoder().encode(word)));

/** A packet that verifies: of the sample escrow, signed by the sample's evidence key. */
export const evidenceExample = () => {
  const escrow = sampleEscrow();
  const { deployment, genesisHash, slot, createdAt } = SAMPLE;
  const data = evidenceData({
    network: { ...deployment, cluster: "localnet", genesisHash },
    escrow,
    account: { owner: deployment.custodyProgram, data: encodeEscrowAccount(escrow) },
    slot,
    ledgerTime: createdAt + 30n,
  });
  const { digest, signedBytes } = evidenceDigest(data);
  const { evidenceKey } = sampleParties();
  const { name, status, attestor } = sampleMerchant();
  return evidenceRecord({
    data,
    signature: {
      status: "signed",
      digest_sha256: digest,
      algorithm: "ed25519",
      key_id: jwkThumbprint(evidenceKey.publicKey),
      public_key: encodeBase64(evidenceKey.publicKey),
      signature: encodeBase64(ed25519.sign(signedBytes, evidenceKey.secret)),
    },
    references: {
      transactions: eventsOf(escrow).map(({ id, kind }, i) => ({
        signature: signatureExample(id),
        slot: slot - 10n + BigInt(i),
        kind,
      })),
      merchant: { name, status, currentAttestor: attestor },
      observed: null,
      notFound: [],
    },
  });
};
