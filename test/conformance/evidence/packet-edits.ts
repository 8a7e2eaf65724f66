import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { ed25519Jwk, evidenceDigest } from "../../../core/domain/evidence/evidence-signature.ts";
import { encodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import {
  evidenceData,
  type EvidenceNetwork,
} from "../../../core/protocol/evidence/evidence-data.ts";
import { evidenceRecord } from "../../../adapters/http/evidence/evidence-contract.ts";
import { type ed25519Key, earliestView, NETWORK, SERVICE_KEY } from "../../arbitraries/evidence.ts";
import { GOLDEN_ESCROWS } from "../../core/use-cases/escrow/golden-escrows.ts";
import { goldenPacket } from "../../core/use-cases/evidence/golden-packets.ts";

/** Mutable JSON. */
export type Draft = { [member: string]: Json };

/** A mutable packet. */
export type PacketDraft = { data: Draft; signature: Draft; references: Draft };

type Key = ReturnType<typeof ed25519Key>;

/** A golden escrow, and the ledger's time at which its packet is made. */
export const goldenEscrow = (name: string) => {
  const found = GOLDEN_ESCROWS.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no golden escrow is called ${name}`);
  return found;
};

/** A golden packet, as the service returns it. */
export const goldenDraft = (name = "fulfilled"): PacketDraft =>
  JSON.parse(JSON.stringify(evidenceRecord(goldenPacket(goldenEscrow(name))))) as PacketDraft;

/** The object in a member of another object. */
export const inside = (draft: Draft, name: string): Draft => draft[name] as Draft;

/** Makes digest and signature again, which only the holder of the key can do. */
export const sign = (packet: PacketDraft, key: Key = SERVICE_KEY): PacketDraft => {
  const { digest, signedBytes } = evidenceDigest(packet.data);
  Object.assign(packet.signature, {
    digest_sha256: digest,
    key_id: ed25519Jwk(key.publicKey).kid,
    public_key: encodeBase64(key.publicKey),
    signature: encodeBase64(key.sign(signedBytes)),
  });
  return packet;
};

/** A golden packet with its data changed and signed again, as a lying service could send it. */
export const lie = (change: (data: Draft) => void, name = "fulfilled"): string => {
  const packet = goldenDraft(name);
  change(packet.data);
  return JSON.stringify(sign(packet));
};

/** A packet of an escrow that a lying service invented. Everything in it is consistent. */
export const invented = (
  escrow: Escrow,
  options: {
    readonly network?: EvidenceNetwork;
    readonly ledgerTime?: bigint;
    readonly bytes?: (account: Uint8Array) => Uint8Array;
  } = {},
): string => {
  const {
    network = NETWORK,
    ledgerTime = earliestView(escrow) + 60n,
    bytes = (same) => same,
  } = options;
  const packet = goldenDraft();
  const account = { owner: network.custodyProgram, data: bytes(encodeEscrowAccount(escrow)) };
  packet.data = evidenceData({ network, escrow, account, slot: 412_345_678n, ledgerTime });
  return JSON.stringify(sign(packet));
};

/** A golden packet with its account's bytes changed at an offset and signed again. */
export const withBytes = (offset: number, values: ReadonlyArray<number>, name = "fulfilled") =>
  invented(goldenEscrow(name).escrow, {
    bytes: (account) => {
      const changed = Uint8Array.from(account);
      changed.set(values, offset);
      return changed;
    },
  });
