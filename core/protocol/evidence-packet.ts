import { type Address, parseAddress } from "../domain/address.ts";
import { decodeBase64 } from "../domain/base64.ts";
import type { Json } from "../domain/canonical-json.ts";
import { parseStrictJson } from "../domain/strict-json.ts";
import { parseUnixTime, type UnixSeconds } from "../domain/unix-time.ts";
import { EVIDENCE_VERSION, type EvidenceNetwork } from "./evidence-data.ts";

type JsonObject = { readonly [key: string]: Json };

/** A packet of the right form; nothing in it is believed yet. */
export type ParsedPacket = {
  readonly data: JsonObject;
  readonly network: EvidenceNetwork;
  readonly escrowAddress: Address;
  readonly account: { readonly owner: Address; readonly data: Uint8Array };
  /** Null for a packet that says it speaks of a settled escrow. */
  readonly asOf: { readonly slot: bigint; readonly ledgerTime: UnixSeconds } | null;
  readonly signature: {
    readonly status: "signed" | "unsigned";
    readonly digest: string;
    readonly keyId: string | null;
    readonly publicKey: Uint8Array | null;
    readonly signature: Uint8Array | null;
  };
};

class WrongForm extends Error {}

const fail = (what: string): never => {
  throw new WrongForm(what);
};

const object = (value: Json | undefined, what: string, members?: ReadonlyArray<string>) => {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return fail(`${what} is not an object`);
  const found = value as JsonObject;
  if (members !== undefined) {
    const stranger = Object.keys(found).find((key) => !members.includes(key));
    if (stranger !== undefined) fail(`${what} has an unknown member`);
    const missing = members.find((member) => !Object.hasOwn(found, member));
    if (missing !== undefined) fail(`${what} lacks ${missing}`);
  }
  return found;
};

const text = (value: Json | undefined, what: string): string =>
  typeof value === "string" ? value : fail(`${what} is not a string`);

const addressIn = (value: Json | undefined, what: string): Address =>
  parseAddress(text(value, what)) ?? fail(`${what} is not an address`);

const bytesIn = (value: Json | undefined, what: string, length?: number): Uint8Array => {
  const bytes = decodeBase64(text(value, what)) ?? fail(`${what} is not base64`);
  return length === undefined || bytes.length === length
    ? bytes
    : fail(`${what} has not ${length} bytes`);
};

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
const SIGNATURE = ["status", "digest_sha256", "algorithm", "key_id", "public_key", "signature"];

const parseNetwork = (value: Json | undefined): EvidenceNetwork => {
  const network = object(value, "data.network", [
    "cluster",
    "genesis_hash",
    "custody_program",
    "attestor_program",
  ]);
  return {
    cluster: text(network["cluster"], "data.network.cluster"),
    genesisHash: text(network["genesis_hash"], "data.network.genesis_hash"),
    custodyProgram: addressIn(network["custody_program"], "data.network.custody_program"),
    attestorProgram: addressIn(network["attestor_program"], "data.network.attestor_program"),
  };
};

const parseAsOf = (value: Json | undefined): ParsedPacket["asOf"] => {
  if (value === null) return null;
  const asOf = object(value, "data.as_of", ["slot", "ledger_time"]);
  const slot = asOf["slot"];
  if (typeof slot !== "number" || !Number.isSafeInteger(slot) || slot < 0)
    return fail("data.as_of.slot is not a slot");
  const ledgerTime =
    parseUnixTime(text(asOf["ledger_time"], "data.as_of.ledger_time")) ??
    fail("data.as_of.ledger_time is not a time");
  return { slot: BigInt(slot), ledgerTime };
};

const parseSignature = (value: Json | undefined): ParsedPacket["signature"] => {
  const signature = object(value, "signature", SIGNATURE);
  const status = text(signature["status"], "signature.status");
  if (signature["algorithm"] !== "ed25519") fail("signature.algorithm is not ed25519");
  const digest = text(signature["digest_sha256"], "signature.digest_sha256");
  if (status === "unsigned") {
    const given = ["key_id", "public_key", "signature"].some((key) => signature[key] !== null);
    if (given) fail("signature is unsigned and yet holds a key or signature");
    return { status, digest, keyId: null, publicKey: null, signature: null };
  }
  if (status !== "signed") return fail("signature.status is neither signed nor unsigned");
  return {
    status,
    digest,
    keyId: text(signature["key_id"], "signature.key_id"),
    publicKey: bytesIn(signature["public_key"], "signature.public_key", 32),
    signature: bytesIn(signature["signature"], "signature.signature", 64),
  };
};

/**
 * An evidence packet out of its JSON text, or what is wrong with its form. Strict: a member twice, an
 * unknown or a missing member is refused. See docs/protocol.md, "Evidence packet".
 */
export const parseEvidencePacket = (
  packet: string,
): { readonly value: ParsedPacket } | { readonly fault: string } => {
  const json = parseStrictJson(packet);
  if ("fault" in json) return { fault: `the packet ${json.fault}` };
  try {
    const whole = object(json.value, "the packet", ["data", "signature", "references"]);
    const data = object(whole["data"], "data", DATA);
    if (data["version"] !== EVIDENCE_VERSION) fail(`data.version is not ${EVIDENCE_VERSION}`);
    object(whole["references"], "references");
    const account = object(data["account"], "data.account", ["owner", "data_base64"]);
    return {
      value: {
        data,
        network: parseNetwork(data["network"]),
        escrowAddress: addressIn(
          object(data["escrow"], "data.escrow")["escrow_pda"],
          "data.escrow.escrow_pda",
        ),
        account: {
          owner: addressIn(account["owner"], "data.account.owner"),
          data: bytesIn(account["data_base64"], "data.account.data_base64"),
        },
        asOf: parseAsOf(data["as_of"]),
        signature: parseSignature(whole["signature"]),
      },
    };
  } catch (error) {
    if (error instanceof WrongForm) return { fault: error.message };
    throw error;
  }
};
