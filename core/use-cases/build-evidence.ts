import { Effect } from "effect";
import { encodeBase64 } from "../domain/base64.ts";
import { evidenceDigest, type EvidenceSignature } from "../domain/evidence-signature.ts";
import type { MerchantStatus } from "../domain/merchant.ts";
import type { Address } from "../domain/address.ts";
import type { Escrow } from "../domain/escrow.ts";
import type { LedgerSignature } from "../domain/ledger-signature.ts";
import { type EventKind, eventsOf } from "../domain/settlement-event.ts";
import { type EvidenceData, evidenceData } from "../protocol/evidence-data.ts";
import type { NotFound } from "../protocol/evidence-references.ts";
import { EscrowIndex } from "../../ports/escrow-index.ts";
import { EvidenceSigner } from "../../ports/evidence-signer.ts";
import { Instance } from "../../ports/instance.ts";
import { Ledger } from "../../ports/ledger.ts";
import { readEscrow } from "./read-escrow.ts";
import { readMerchant } from "./read-merchant.ts";

/** What can change or be pruned: outside of what is signed, checkable on the ledger by anyone. */
export type EvidenceReferences = {
  /** Where the index has seen the escrow's events in the ledger's history, oldest first. */
  readonly transactions: ReadonlyArray<{
    readonly signature: LedgerSignature;
    readonly slot: bigint;
    readonly kind: EventKind;
  }>;
  /** The merchant's present standing, null when its account could not be read. */
  readonly merchant: {
    readonly name: string;
    readonly status: MerchantStatus;
    readonly currentAttestor: Address;
  } | null;
  /** Where a Pending escrow was observed, null once settled. */
  readonly observed: { readonly slot: bigint; readonly commitment: "finalized" } | null;
  /** What could not be found: the merchant's account, or the transactions of events that the account proves. */
  readonly notFound: ReadonlyArray<NotFound>;
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

/** The transactions of an escrow's events that the index knows; none while the store does not answer. */
const knownTransactions = Effect.fnUntraced(function* (escrow: Escrow) {
  const index = yield* EscrowIndex;
  const proved = new Set(eventsOf(escrow).map(({ id }) => id));
  const indexed = yield* Effect.orElseSucceed(index.eventsOfEscrow(escrow.address), () => []);
  return indexed.flatMap(({ event: { id, kind }, signature, slot }) =>
    signature === null || slot === null || !proved.has(id) ? [] : [{ signature, slot, kind }],
  );
});

/** What stands beside the signed data. A part that cannot be found is named, and fails nothing. */
const findReferences = Effect.fnUntraced(function* (escrow: Escrow, slot: bigint) {
  const merchant = yield* readMerchant(escrow.merchant, "finalized").pipe(
    Effect.map(({ merchant: { name, status, attestor } }) => ({
      name,
      status,
      currentAttestor: attestor,
    })),
    Effect.orElseSucceed(() => null),
  );
  const transactions = yield* knownTransactions(escrow);
  const missing = eventsOf(escrow)
    .map(({ kind }) => kind)
    .filter((kind) => transactions.every((known) => known.kind !== kind));
  const references: EvidenceReferences = {
    transactions,
    merchant,
    observed: escrow.state === "Pending" ? { slot, commitment: "finalized" } : null,
    notFound: [...(merchant === null ? (["merchant"] as const) : []), ...missing],
  };
  return references;
});

/**
 * The evidence packet of an escrow from its finalized account. Fails as `readEscrow` does, never for want of
 * the index or of the merchant's account.
 * See docs/protocol.md, "Evidence packet".
 */
export const buildEvidence = Effect.fn("buildEvidence")(function* (pda: string) {
  const { escrow, account, ledgerTime, slot } = yield* readEscrow(pda, "finalized");
  const { deployment, cluster } = yield* Instance;
  const ledger = yield* Ledger;
  const genesisHash = yield* ledger.genesisHash;
  const network = { ...deployment, cluster, genesisHash };
  const data = evidenceData({ network, escrow, account, slot, ledgerTime });
  const packet: EvidencePacket = {
    data,
    signature: yield* signData(data),
    references: yield* findReferences(escrow, slot),
  };
  return packet;
});
