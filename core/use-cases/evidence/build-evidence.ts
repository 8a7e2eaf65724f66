import { Effect } from "effect";
import { encodeBase64 } from "../../domain/encoding/base64.ts";
import {
  evidenceDigest,
  type EvidenceSignature,
} from "../../domain/evidence/evidence-signature.ts";
import { merchantAddress } from "../../protocol/addresses/addresses.ts";
import { verifierKey } from "../../log/notes/verifier-key.ts";
import { logReferenceIn } from "../../protocol/evidence/evidence-references.ts";
import { inclusionFault, type LoggedAccount } from "../../protocol/verification/verify-in-log.ts";
import { OwnLogKeys } from "../../../ports/log/log-signer.ts";
import { type EvidenceData, evidenceData } from "../../protocol/evidence/evidence-data.ts";
import { EvidenceSigner } from "../../../ports/evidence-signer.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger, type LedgerFailure } from "../../../ports/ledger/ledger.ts";
import { LedgerRecord } from "../../../ports/ledger/ledger-record.ts";
import { parseAddress } from "../../domain/address.ts";
import { findTransactions, referencesOf } from "./evidence-references.ts";
import { expectedParties } from "../escrow/prepare/recent-parties.ts";
import { merchantIn, readFinalizedEscrow } from "../escrow/read-escrow.ts";
import { indexedAs } from "../escrow/refuse-contradicted.ts";
import { isNodeAway, settledInIndex } from "../escrow/settled-in-index.ts";
import { type LogProof, LogProofs } from "../log/serving/read-log.ts";
import { readStanding, SettledEvidence } from "./settled-evidence.ts";
import type { EvidencePacket, KeptEvidence } from "./stored-packet.ts";

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

const isSameProof = (one: LogProof | null, other: LogProof | null): boolean =>
  one?.origin === other?.origin && one?.index === other?.index && one?.proof === other?.proof;

/** A new packet from the ledger's present state. */
const newPacket = Effect.fnUntraced(function* (pda: string) {
  const { deployment, cluster } = yield* Instance;
  const address = parseAddress(pda);
  const expected = address === undefined ? undefined : yield* expectedParties(address);
  const others =
    expected === undefined ? [] : [merchantAddress(deployment, expected.merchant).address];
  const live = yield* readFinalizedEscrow(pda, others);
  const { escrow, account, archived, ledgerTime, slot } = live;
  const ledger = yield* Ledger;
  const genesisHash = yield* ledger.genesisHash;
  // Bytes that the index has proved by this ledger's root are this ledger's, whichever node shows them.
  const proved = archived === null ? yield* indexedAs(escrow.address, account, deployment) : null;
  if (proved === null) yield* ledger.confirmIdentity;
  const network = { ...deployment, cluster, genesisHash };
  const data = evidenceData({ network, escrow, account, slot, ledgerTime });
  const signature = yield* signData(data);
  const settled = yield* SettledEvidence;
  // A settled escrow's merchant is read again with later requests.
  const shown = merchantIn(live.along[0] ?? null, deployment);
  if (escrow.state !== "Pending" && shown?.wallet === escrow.merchant)
    yield* settled.showStanding(escrow.merchant, shown, ledgerTime);
  const merchant = yield* escrow.state === "Pending"
    ? readStanding(escrow.merchant)
    : settled.standingOf(escrow.merchant);
  const { transactions, revision } = yield* findTransactions(escrow);
  const references = referencesOf(escrow, {
    transactions,
    merchant,
    observed: escrow.state === "Pending" ? { slot, commitment: "finalized" } : null,
    archived: archived === null ? null : { digest: archived.lastHash },
    log: yield* (yield* LogProofs).ofEscrow(escrow),
  });
  const packet: EvidencePacket = { data, signature, references };
  if (escrow.state !== "Pending") {
    const kept = { escrow, packet, revision };
    settled.keep(kept);
    yield* settled.store(kept);
  }
  return packet;
});

/**
 * The packet of a settled escrow that an earlier process served, or one made from the index, for a caller whom no node
 * answers. Fails with what the node's failure was when there is neither.
 */
const storedPacket = Effect.fnUntraced(function* (pda: string, failure: LedgerFailure) {
  const { current } = yield* EvidenceSigner;
  const { state } = yield* LedgerRecord;
  const { genesisHash } = yield* state;
  const address = parseAddress(pda);
  if (current === null || genesisHash === null || address === undefined)
    return yield* indexedPacket(pda, failure);
  const { deployment, cluster } = yield* Instance;
  const network = { ...deployment, cluster, genesisHash };
  const kept = yield* (yield* SettledEvidence).restore(address, network, current);
  if (kept === undefined) return yield* indexedPacket(pda, failure);
  // The proof needs no node, and the key that signed the kept one may be retired.
  const { escrow, packet } = kept;
  const proof = yield* (yield* LogProofs).ofEscrow(escrow);
  if (proof === null || isSameProof(packet.references.log, proof)) return packet;
  return { ...packet, references: referencesOf(escrow, { ...packet.references, log: proof }) };
});

/** Whether a log proof shows, under the checkpoint that a key of this service signed, that an account is what it is. */
const isSignedFor = (
  account: LoggedAccount,
  proof: LogProof,
  publicKeys: ReadonlyArray<Uint8Array>,
): boolean => {
  try {
    const logs = publicKeys.map((publicKey) => ({
      key: verifierKey(proof.origin, "ed25519", publicKey),
      url: null,
    }));
    const policy = { logs, witnesses: [], groups: [], quorum: null };
    const reference = logReferenceIn({ ...proof });
    return reference !== null && inclusionFault(account, reference, policy) === null;
  } catch {
    // The proof has another form.
    return false;
  }
};

/**
 * The packet of a settled escrow that no process has served, out of the index, for a caller whom no node answers. It is
 * signed only where the log that this service signed holds those very bytes: nobody who can write to the store can have
 * other evidence signed. Fails with what the node's failure was for any other escrow.
 */
const indexedPacket = Effect.fnUntraced(function* (pda: string, failure: LedgerFailure) {
  const shown = isNodeAway(failure) ? yield* settledInIndex(pda) : null;
  const { genesisHash } = yield* (yield* LedgerRecord).state;
  if (shown === null || genesisHash === null) return yield* failure;
  const { escrow, account, slot, ledgerTime } = shown;
  const { deployment, cluster } = yield* Instance;
  const network = { ...deployment, cluster, genesisHash };
  const log = yield* (yield* LogProofs).ofEscrow(escrow);
  const logKeys = yield* yield* OwnLogKeys;
  const isSigned =
    log !== null && isSignedFor({ network, escrow, data: account.data }, log, logKeys);
  if ((yield* EvidenceSigner).current !== null && !isSigned) return yield* failure;
  const data = evidenceData({ network, escrow, account, slot, ledgerTime });
  const packet: EvidencePacket = {
    data,
    signature: yield* signData(data),
    references: referencesOf(escrow, {
      transactions: (yield* findTransactions(escrow)).transactions,
      merchant: yield* (yield* SettledEvidence).standingOf(escrow.merchant),
      observed: { slot, commitment: "finalized" },
      archived: null,
      log,
    }),
  };
  return packet;
});

/** A settled escrow's packet with present references. Returns the same object when they have not changed. */
const renewedPacket = Effect.fnUntraced(function* (kept: KeptEvidence) {
  const settled = yield* SettledEvidence;
  const { escrow, packet } = kept;
  const before = packet.references;
  const merchant = yield* settled.standingOf(escrow.merchant);
  const archived = before.archived ?? (yield* settled.archivalOf(escrow));
  const earlier = { transactions: before.transactions, revision: kept.revision };
  const isComplete = before.notFound.every((missing) => missing === "merchant");
  const { transactions, revision } = isComplete
    ? earlier
    : yield* findTransactions(escrow, earlier);
  const proof = yield* (yield* LogProofs).ofEscrow(escrow);
  const log = isSameProof(before.log, proof) ? before.log : (proof ?? before.log);
  const isSame =
    log === before.log &&
    merchant === before.merchant &&
    transactions === before.transactions &&
    archived === before.archived;
  if (isSame) {
    if (revision !== kept.revision) settled.keep({ ...kept, revision });
    return packet;
  }
  const references = referencesOf(escrow, {
    transactions,
    merchant,
    observed: before.observed,
    archived,
    log,
  });
  const renewed: EvidencePacket = { ...packet, references };
  const next = { escrow, packet: renewed, revision };
  settled.keep(next);
  // A proof under each new checkpoint is not worth a write.
  const isMore =
    transactions !== before.transactions ||
    archived !== before.archived ||
    (before.log === null && log !== null);
  if (isMore) yield* settled.store(next);
  return renewed;
});

/**
 * The evidence packet of an escrow from its finalized account. Read and signed anew while Pending. Kept once settled:
 * the same object is returned until a reference changes. While no node answers, one that an earlier process served is
 * served with the newest known state of its merchant, or one made from the index. Fails like `readFinalizedEscrow`; a missing index or merchant
 * account is no failure. See docs/evidence.md, "Evidence packet".
 */
export const buildEvidence = Effect.fnUntraced(function* (pda: string) {
  const { current } = yield* EvidenceSigner;
  const kept = (yield* SettledEvidence).find(pda);
  if (kept !== undefined && kept.packet.signature.key_id === (current?.keyId ?? null))
    return yield* renewedPacket(kept);
  return yield* newPacket(pda).pipe(
    Effect.catchTags({
      LedgerUnavailable: (failure) => storedPacket(pda, failure),
      LedgerTimeout: (failure) => storedPacket(pda, failure),
    }),
  );
});
