import { type Static, Type } from "@sinclair/typebox";
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { EVENT_KINDS, eventsOf } from "../../../core/domain/index/settlement-event.ts";
import { EVIDENCE_VERSION, evidenceData } from "../../../core/protocol/evidence/evidence-data.ts";
import type { EvidencePacket as Packet } from "../../../core/use-cases/evidence/stored-packet.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { evidenceDigest, jwkThumbprint } from "../../../core/domain/evidence/evidence-signature.ts";
import { ledgerSignatureFromBytes } from "../../../core/domain/ledger/signature.ts";
import { encodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import {
  Address,
  Base64,
  Count,
  EscrowState,
  EventKind,
  Hash,
  MerchantStatus,
  nullable,
  oneOf,
  record,
  SettledBy,
  Signature,
  Slot,
  Stroops,
  Time,
} from "../openapi/values.ts";
import { SAMPLE, sampleEscrow, sampleMerchant, sampleParties } from "../openapi/sample-values.ts";

/** A u64 from 1 on, as a decimal string. */
const Sequence = (description: string) =>
  Type.String({ pattern: "^[1-9][0-9]{0,19}$", description, examples: ["42"] });

const Network = record("EvidenceNetwork", "The ledger and programs of the packet's escrow.", {
  cluster: Type.String(),
  genesis_hash: Type.String(),
  custody_program: Address("The custody program."),
  attestor_program: Address("The attestor program."),
});

const EvidenceEscrow = record("EvidenceEscrow", "The escrow account, decoded.", {
  escrow_pda: Address("The escrow's own address."),
  bump: Type.Integer({ minimum: 0, maximum: 255 }),
  state: EscrowState,
  agent_owner: Address("The agent's wallet."),
  merchant: Address("The merchant's wallet."),
  merchant_pda: Address("The merchant's account."),
  mint: Address("The token's mint."),
  vault_token_account: Address("The account that held the tokens."),
  rent_payer: Address("Who paid the vault's rent."),
  attestor: Address("The only key that could release it, recorded at its creation."),
  session_key: nullable(Address("The key that signs the session's vouchers."), {
    description: "Null: a single payment.",
  }),
  task_hash: Hash("SHA-256 of the task that is paid for."),
  amount_stroops: Stroops("Escrowed base units."),
  released_stroops: Stroops("To the merchant, of a Pending session what was captured so far."),
  refunded_stroops: Stroops("Back to the agent."),
  deliveries: Count("Deliveries that the last attestation counts; a single payment has one."),
  created_at: nullable(Time("By the ledger's clock.")),
  expires_at: nullable(Time("From here on it can only be refunded, or from `closes_at` on.")),
  closes_at: nullable(Time("The end that the agent set by closing its session."), {
    description: "Null: not closed.",
  }),
  settled_at: nullable(Time("When it was settled.")),
  settled_by: SettledBy,
  created_seq: Sequence("The number of its creation among the custody program's events."),
  settled_seq: nullable(Sequence("The number of its settlement."), {
    description: "Null: none yet.",
  }),
});

const DeliveryClaim = record("DeliveryClaim", "What the merchant's attestor asserted.", {
  proof_hash: nullable(Hash("Hash of the delivery proof."), { description: "Null: none yet." }),
  verification: Type.String({ description: "How the claim was checked." }),
  attestor: nullable(Address("The key that signed.")),
  attested_at: nullable(Time("The signed timestamp.")),
  attestation: nullable(
    record("EvidenceAttestation", "The signature over the claim, checkable offline.", {
      message_hex: Type.String({ pattern: "^[0-9a-f]+$" }),
      signature: Base64("Ed25519, 64 bytes."),
      public_key: Address("The attestor's key."),
    }),
  ),
  claim: nullable(Type.String({ description: "Who made the claim." })),
});

const SettlementDecision = record("SettlementDecision", "What the ledger did with the payment.", {
  status: oneOf(["released", "refunded", "pending"], "The outcome."),
  reason: oneOf(
    [
      "awaiting_delivery_proof",
      "ttl_expired_refund_available",
      "merchant_delivery_proof_verified",
      "merchant_partial_delivery_proof_verified",
      "ttl_expired_without_delivery_proof",
      "session_closed_without_delivery_proof",
      "merchant_cancelled",
    ],
    "Why.",
  ),
  settled_at: nullable(Time("When it was settled.")),
});

const EvidenceData = record("EvidenceData", "What is digested and signed.", {
  version: Type.Unsafe<string>({ type: "string", const: EVIDENCE_VERSION }),
  purpose: Type.String(),
  network: Network,
  escrow: EvidenceEscrow,
  account: record("EvidenceAccount", "The raw account, to be decoded again.", {
    owner: Address("The program that owns it."),
    data_base64: Base64("Its bytes."),
  }),
  delivery_claim: DeliveryClaim,
  settlement_decision: SettlementDecision,
  as_of: nullable(
    record("EvidenceAsOf", "When a Pending escrow was read.", {
      slot: Slot(),
      ledger_time: Time("The ledger's clock."),
    }),
    { description: "Null once settled, because the account then never changes." },
  ),
});

const EvidenceSignature = record("EvidenceSignature", "Digest and signature of `data`.", {
  status: oneOf(["signed", "unsigned"], "Unsigned when the service has no key."),
  digest_sha256: Hash("SHA-256 of the RFC 8785 bytes of `data`."),
  algorithm: Type.Literal("ed25519"),
  key_id: nullable(Type.String({ description: "RFC 7638 thumbprint." })),
  public_key: nullable(
    Base64("32 bytes. Do not trust it by itself: compare it with a pinned key."),
  ),
  signature: nullable(Base64("Over the DSSE pre-authentication encoding of those bytes.")),
});

const EvidenceReferences = record(
  "EvidenceReferences",
  "Facts that can change or be pruned. They are not signed; look them up on the ledger.",
  {
    transactions: Type.Array(
      record("EvidenceTransaction", "A transaction that the index has seen.", {
        signature: Signature("Its first signature."),
        slot: Slot(),
        kind: EventKind,
      }),
      { maxItems: 2 },
    ),
    merchant: nullable(
      record("EvidenceMerchant", "The merchant's present standing.", {
        name: Type.String(),
        status: MerchantStatus,
        current_attestor: Address("Its present attestor key."),
      }),
    ),
    observed: nullable(
      record("EvidenceObserved", "Where a Pending escrow was observed.", {
        slot: Slot(),
        commitment: Type.Literal("finalized"),
      }),
      {
        description:
          "Of a settled escrow only while no node answers: the packet was then made from the index, which is complete up to that slot.",
      },
    ),
    archived: nullable(
      record("EvidenceArchived", "What the ledger keeps of an archived escrow.", {
        digest: Hash("SHA-256 of the account's bytes, which are those in `data`."),
      }),
      { description: "Null while the ledger has the whole account." },
    ),
    log: nullable(
      record(
        "EvidenceLogProof",
        "A proof that the settlement log holds the account's last event.",
        {
          origin: Type.String({ description: "The log's origin line." }),
          index: Type.Integer({
            minimum: 1,
            description: "The leaf's index: the event's number.",
          }),
          proof: Type.String({
            description: "The text of a C2SP tlog-proof@v1, with the signed checkpoint in it.",
          }),
        },
      ),
      { description: "Null while no published checkpoint covers that event." },
    ),
    not_found: Type.Array(
      oneOf(["merchant", ...EVENT_KINDS], "The merchant's account, or an event's transaction."),
      { description: "What could not be found when the packet was made.", maxItems: 3 },
    ),
  },
);

/** One escrow's evidence packet. */
export const EvidencePacket = record("EvidencePacket", "One escrow's evidence packet.", {
  data: EvidenceData,
  signature: EvidenceSignature,
  references: EvidenceReferences,
});
/** An evidence packet as JSON: data, digest and signature. */
export type EvidencePacketRecord = Static<typeof EvidencePacket>;

/** An evidence packet as JSON. */
export const evidenceRecord = (packet: Packet): EvidencePacketRecord => {
  const { transactions, merchant, observed, archived, log, notFound } = packet.references;
  return {
    data: packet.data,
    signature: packet.signature,
    references: {
      transactions: transactions.map(({ signature, slot, kind }) => ({
        signature,
        slot: Number(slot),
        kind,
      })),
      merchant:
        merchant === null
          ? null
          : {
              name: merchant.name,
              status: merchant.status,
              current_attestor: merchant.currentAttestor,
            },
      observed:
        observed === null ? null : { slot: Number(observed.slot), commitment: observed.commitment },
      archived: archived === null ? null : { digest: archived.digest },
      log: log === null ? null : { origin: log.origin, index: log.index, proof: log.proof },
      not_found: [...notFound],
    },
  };
};

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
      archived: null,
      log: null,
      notFound: [],
    },
  });
};
