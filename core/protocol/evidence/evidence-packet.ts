import type { Address } from "../../domain/address.ts";
import type { Json } from "../../domain/encoding/canonical-json.ts";
import { parseUnixTime, type UnixSeconds } from "../../domain/unix-time.ts";
import { EVIDENCE_VERSION, type EvidenceNetwork } from "./evidence-data.ts";
import { type LogReference, readReferences } from "./evidence-references.ts";
import {
  addressIn,
  bytesIn,
  fail,
  formOf,
  type JsonObject,
  objectIn,
  oneOfIn,
  readStrictDocument,
  slotIn,
  textIn,
} from "./strict-document.ts";

/** A packet of the right form. Nothing in it is verified yet. */
export type ParsedPacket = {
  readonly data: JsonObject;
  readonly network: EvidenceNetwork;
  readonly escrowAddress: Address;
  readonly account: { readonly owner: Address; readonly data: Uint8Array };
  /** Null for a packet whose escrow claims to be settled. */
  readonly asOf: { readonly slot: bigint; readonly ledgerTime: UnixSeconds } | null;
  /** The only reference that is judged: a proof that a log holds the account. */
  readonly log: LogReference | null;
  readonly signature: {
    readonly status: "signed" | "unsigned";
    readonly digest: string;
    readonly keyId: string | null;
    readonly publicKey: Uint8Array | null;
    readonly signature: Uint8Array | null;
  };
};

/** The most bytes of a packet's text, several times what the largest packet has. */
export const MAX_PACKET_BYTES = 65_536;

const DATA = [
  "version",
  "purpose",
  "network",
  "escrow",
  "account",
  "delivery_claim",
  "settlement_decision",
  "as_of",
];
const NETWORK = ["cluster", "genesis_hash", "custody_program", "attestor_program"];
const SIGNATURE = ["status", "digest_sha256", "algorithm", "key_id", "public_key", "signature"];

const parseNetwork = (value: Json | undefined): EvidenceNetwork => {
  const network = objectIn(value, "data.network", NETWORK);
  return {
    cluster: textIn(network["cluster"], "data.network.cluster"),
    genesisHash: addressIn(network["genesis_hash"], "data.network.genesis_hash"),
    custodyProgram: addressIn(network["custody_program"], "data.network.custody_program"),
    attestorProgram: addressIn(network["attestor_program"], "data.network.attestor_program"),
  };
};

const parseAsOf = (value: Json | undefined): ParsedPacket["asOf"] => {
  if (value === null) return null;
  const asOf = objectIn(value, "data.as_of", ["slot", "ledger_time"]);
  const ledgerTime =
    parseUnixTime(textIn(asOf["ledger_time"], "data.as_of.ledger_time")) ??
    fail("data.as_of.ledger_time is not a time");
  return { slot: slotIn(asOf["slot"], "data.as_of.slot"), ledgerTime };
};

const parseSignature = (value: Json | undefined): ParsedPacket["signature"] => {
  const signature = objectIn(value, "signature", SIGNATURE);
  const status = oneOfIn(signature["status"], "signature.status", ["signed", "unsigned"]);
  oneOfIn(signature["algorithm"], "signature.algorithm", ["ed25519"]);
  const digest = textIn(signature["digest_sha256"], "signature.digest_sha256");
  if (status === "unsigned") {
    const given = ["key_id", "public_key", "signature"].some((key) => signature[key] !== null);
    if (given) fail("signature is unsigned and yet holds a key or signature");
    return { status, digest, keyId: null, publicKey: null, signature: null };
  }
  return {
    status,
    digest,
    keyId: textIn(signature["key_id"], "signature.key_id"),
    publicKey: bytesIn(signature["public_key"], "signature.public_key", 32),
    signature: bytesIn(signature["signature"], "signature.signature", 64),
  };
};

const parsePacket = (packet: Json): ParsedPacket => {
  const whole = objectIn(packet, "the packet", ["data", "signature", "references"]);
  const data = objectIn(whole["data"], "data", DATA);
  if (data["version"] !== EVIDENCE_VERSION) fail(`data.version is not ${EVIDENCE_VERSION}`);
  const { log } = readReferences(whole["references"]);
  const account = objectIn(data["account"], "data.account", ["owner", "data_base64"]);
  return {
    data,
    network: parseNetwork(data["network"]),
    escrowAddress: addressIn(
      objectIn(data["escrow"], "data.escrow")["escrow_pda"],
      "data.escrow.escrow_pda",
    ),
    account: {
      owner: addressIn(account["owner"], "data.account.owner"),
      data: bytesIn(account["data_base64"], "data.account.data_base64"),
    },
    asOf: parseAsOf(data["as_of"]),
    log,
    signature: parseSignature(whole["signature"]),
  };
};

const VERSIONED = /^settlement-evidence-v[1-9][0-9]*$/;

/** The version of a packet of another version of the format; null for this one's, and for what is no packet. */
export const otherVersion = (packet: string | Uint8Array): string | null => {
  const read = formOf(() => {
    const document = readStrictDocument(packet, "the packet", MAX_PACKET_BYTES);
    const { version } = objectIn(objectIn(document, "the packet")["data"], "data");
    return textIn(version, "data.version");
  });
  const version = "value" in read ? read.value : EVIDENCE_VERSION;
  return version !== EVIDENCE_VERSION && VERSIONED.test(version) ? version : null;
};

/**
 * An evidence packet out of its JSON text or bytes, or what is wrong with its form. Strict, so that all
 * verifiers read the same. See docs/verify-evidence.md, "The packet".
 */
export const parseEvidencePacket = (
  packet: string | Uint8Array,
): { readonly value: ParsedPacket } | { readonly fault: string } =>
  formOf(() => parsePacket(readStrictDocument(packet, "the packet", MAX_PACKET_BYTES)));
