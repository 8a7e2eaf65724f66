import { Effect } from "effect";
import { encodeBase64 } from "../domain/base64.ts";
import { evidenceDigest, type EvidenceSignature } from "../domain/evidence-signature.ts";
import type { MerchantStatus } from "../domain/merchant.ts";
import type { Address } from "../domain/address.ts";
import { type EvidenceData, evidenceData } from "../protocol/evidence-data.ts";
import { EvidenceSigner } from "../../ports/evidence-signer.ts";
import { Instance } from "../../ports/instance.ts";
import { Ledger } from "../../ports/ledger.ts";
import { readEscrow } from "./read-escrow.ts";
import { readMerchant } from "./read-merchant.ts";

/** What can change or be pruned: outside of what is signed, checkable on the ledger by anyone. */
export type EvidenceReferences = {
  /** The merchant's present standing, null when its account could not be read. */
  readonly merchant: {
    readonly name: string;
    readonly status: MerchantStatus;
    readonly currentAttestor: Address;
  } | null;
  /** Where a Pending escrow was observed, null once settled. */
  readonly observed: { readonly slot: bigint; readonly commitment: "finalized" } | null;
};

/** One escrow's evidence packet. */
export type EvidencePacket = {
  readonly data: EvidenceData;
  readonly signature: EvidenceSignature;
  readonly references: EvidenceReferences;
};

const signData = Effect.fnUntraced(function* (data: EvidenceData) {
  const { current, sign } = yield* EvidenceSigner;
  const { digest, signedBytes } = evidenceDigest(data);
  const unsigned: EvidenceSignature = {
    status: "unsigned",
    digest_sha256: digest,
    algorithm: "ed25519",
    key_id: null,
    public_key: null,
    signature: null,
  };
  if (current === null) return unsigned;
  const signature: EvidenceSignature = {
    ...unsigned,
    status: "signed",
    key_id: current.keyId,
    public_key: encodeBase64(current.publicKey),
    signature: encodeBase64(yield* sign(signedBytes)),
  };
  return signature;
});

/**
 * The evidence packet of an escrow from its finalized account. Fails as `readEscrow` does.
 * See docs/protocol.md, "Evidence packet".
 */
export const buildEvidence = Effect.fn("buildEvidence")(function* (pda: string) {
  const { escrow, account, ledgerTime, slot } = yield* readEscrow(pda, "finalized");
  const { deployment, cluster } = yield* Instance;
  const ledger = yield* Ledger;
  const genesisHash = yield* ledger.genesisHash;
  const network = { ...deployment, cluster, genesisHash };
  const data = evidenceData({ network, escrow, account, slot, ledgerTime });
  const standing = yield* readMerchant(escrow.merchant, "finalized").pipe(
    Effect.map(({ merchant }) => ({
      name: merchant.name,
      status: merchant.status,
      currentAttestor: merchant.attestor,
    })),
    Effect.orElseSucceed(() => null),
  );
  const packet: EvidencePacket = {
    data,
    signature: yield* signData(data),
    references: {
      merchant: standing,
      observed: escrow.state === "Pending" ? { slot, commitment: "finalized" } : null,
    },
  };
  return packet;
});
