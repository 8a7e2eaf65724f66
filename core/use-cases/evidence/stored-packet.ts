import { Effect } from "effect";
import type { EvidenceKey } from "../../../ports/evidence-signer.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import type { Address } from "../../domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../domain/encoding/base64.ts";
import type { TrustPolicy } from "../../domain/evidence/evidence-check.ts";
import {
  evidenceDigest,
  type EvidenceSignature,
} from "../../domain/evidence/evidence-signature.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { EventKind } from "../../domain/index/settlement-event.ts";
import { NO_PINS } from "../../domain/ledger/deployment.ts";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import { decodeEscrowAccount } from "../../protocol/accounts/escrow-account.ts";
import { CLOCK_SYSVAR } from "../../protocol/addresses/well-known-addresses.ts";
import { verifyEd25519 } from "../../protocol/crypto/strict-ed25519.ts";
import {
  evidenceData,
  type EvidenceData,
  type EvidenceNetwork,
} from "../../protocol/evidence/evidence-data.ts";
import type { LedgerWitness } from "../../protocol/verification/verify-on-ledger.ts";
import { witnessAccounts, witnessDoubt } from "../../protocol/verification/witness-doubt.ts";
import { ledgerTimeOf } from "../escrow/read-escrow.ts";
import { orAskOthers, untrustworthy } from "../or-ask-another.ts";
import { type EvidenceReferences, referencesOf } from "./evidence-references.ts";

/** One escrow's evidence packet. */
export type EvidencePacket = {
  readonly data: EvidenceData;
  readonly signature: EvidenceSignature;
  readonly references: EvidenceReferences;
};

/** A settled escrow as read at `finalized`, and its latest packet. */
export type KeptEvidence = {
  readonly escrow: Escrow;
  readonly packet: EvidencePacket;
  /** The store's revision when the packet's transactions were looked up. */
  readonly revision: bigint | null;
};

/** The form of the text. One of another form is not read. */
const VERSION = 1;

type Stored = {
  readonly version: number;
  readonly owner: Address;
  readonly data: string;
  readonly signature: string;
  readonly transactions: ReadonlyArray<{
    readonly signature: LedgerSignature;
    readonly slot: string;
    readonly kind: EventKind;
  }>;
  readonly references: Pick<EvidenceReferences, "merchant" | "archived" | "log">;
  readonly standingAtMs: number;
};

/** A packet that was kept, and when its merchant was read, unix milliseconds. */
type StoredPacket = { readonly known: KeptEvidence; readonly standingAtMs: number };

/**
 * A settled packet as text: its account's bytes, its signature and its references. Null for an unsigned one, of which
 * nothing would show later that this service made it.
 */
export const storedPacketText = ({ known, standingAtMs }: StoredPacket): string | null => {
  const { data, signature, references } = known.packet;
  if (signature.signature === null) return null;
  const { transactions, merchant, archived, log } = references;
  const stored: Stored = {
    version: VERSION,
    owner: data.account.owner,
    data: data.account.data_base64,
    signature: signature.signature,
    transactions: transactions.map((one) => ({
      signature: one.signature,
      slot: one.slot.toString(),
      kind: one.kind,
    })),
    references: { merchant, archived, log },
    standingAtMs,
  };
  return JSON.stringify(stored);
};

/** The packet of a parsed text. @throws when the text has another form */
const packetOf = (
  stored: Stored,
  address: Address,
  network: EvidenceNetwork,
  key: EvidenceKey,
): StoredPacket | undefined => {
  const bytes = decodeBase64(stored.data);
  const signed = decodeBase64(stored.signature);
  if (stored.version !== VERSION || bytes === undefined || signed === undefined) return undefined;
  const account = { address, owner: stored.owner, data: bytes };
  const decoded = decodeEscrowAccount(account, network);
  if ("fault" in decoded || decoded.value.state === "Pending") return undefined;
  const escrow = decoded.value;
  const data = evidenceData({ network, escrow, account, slot: 0n, ledgerTime: 0n });
  const { digest, signedBytes } = evidenceDigest(data);
  if (!verifyEd25519(signed, signedBytes, key.publicKey)) return undefined;
  const references = referencesOf(escrow, {
    ...stored.references,
    transactions: stored.transactions.map((one) => ({
      signature: one.signature,
      slot: BigInt(one.slot),
      kind: one.kind,
    })),
    observed: null,
  });
  const signature: EvidenceSignature = {
    status: "signed",
    digest_sha256: digest,
    algorithm: "ed25519",
    key_id: key.keyId,
    public_key: encodeBase64(key.publicKey),
    signature: stored.signature,
  };
  const packet = { data, signature, references };
  return { known: { escrow, packet, revision: null }, standingAtMs: stored.standingAtMs };
};

/**
 * The packet of a text. Its `data` is made anew from the account's bytes and this network, and `key` must have signed
 * exactly that: nobody who can write to the store can have other evidence served. Undefined when that does not hold, or
 * when the escrow is another one or not settled.
 */
export const readStoredPacket = (
  text: string,
  ...to: [address: Address, network: EvidenceNetwork, key: EvidenceKey]
): StoredPacket | undefined => {
  try {
    return packetOf(JSON.parse(text) as Stored, ...to);
  } catch {
    return undefined;
  }
};

/** The programs' data, whole, where the policy pins them. */
const readPrograms = Effect.fnUntraced(function* (
  addresses: readonly [Address, Address],
  trust: TrustPolicy | null,
) {
  const { custody: custodyPins, attestor: attestorPins } = trust?.programPins ?? NO_PINS;
  if (custodyPins.length + attestorPins.length === 0) return {};
  const ledger = yield* Ledger;
  const whole = Number.POSITIVE_INFINITY;
  const { value } = yield* ledger.readAccounts(addresses, "finalized", whole);
  const [custody = null, attestor = null] = value;
  return { programs: { custody, attestor } };
});

const witnessOnce = Effect.fn("witnessEvidence")(function* (
  packet: string | Uint8Array,
  trust: TrustPolicy | null,
) {
  const accounts = witnessAccounts(packet);
  if (accounts === null) return undefined;
  const ledger = yield* Ledger;
  const genesisHash = yield* ledger.genesisHash;
  const addresses = [accounts.escrow, accounts.merchant, accounts.custodyConfig, CLOCK_SYSVAR];
  const { slot, value } = yield* ledger.readAccounts(addresses, "finalized");
  const [escrow = null, merchant = null, custodyConfig = null, clock = null] = value;
  const programs = yield* readPrograms(accounts.programData, trust);
  const witness: LedgerWitness = { genesisHash, escrow, merchant, custodyConfig, ...programs };
  const ledgerTime = yield* ledgerTimeOf(clock);
  const doubt = witnessDoubt(packet, trust, { witness, slot, ledgerTime });
  if (doubt !== null) return yield* untrustworthy(doubt);
  return witness;
});

/**
 * A packet's escrow and merchant accounts and the custody program's configuration, in one read at `finalized`, and the
 * programs' data where the policy pins them. Undefined, without a read, for a packet that names none. While an answer
 * decides nothing (`witnessDoubt`), another node is asked, up to `others` times. Fails with a `LedgerFailure`, whose
 * cause says why, when the last answer decides nothing either.
 */
export const witnessEvidence = (
  packet: string | Uint8Array,
  trust: TrustPolicy | null,
  others: number,
) => orAskOthers(witnessOnce(packet, trust), others);
