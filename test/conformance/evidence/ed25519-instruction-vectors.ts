import { ed25519Key, NETWORK } from "../../arbitraries/evidence.ts";
import { goldenEscrow } from "./packet-edits.ts";
import { addressToBytes } from "../../../core/domain/address.ts";
import { termsOf } from "../../../core/protocol/accounts/escrow-account.ts";
import { attestedMessage, domainOf } from "../../../core/protocol/instructions/attestation.ts";
import { voucherMessage } from "../../../core/protocol/instructions/voucher.ts";
import { ed25519Instruction } from "../../../core/protocol/instructions/ed25519-instruction.ts";

/** The data of an Ed25519 precompile instruction, and what the custody program reads in it. */
export type InstructionVector = {
  readonly name: string;
  readonly why: string;
  readonly data_hex: string;
  /** Null: passed over, because it has neither of the two forms. */
  readonly claim: (SignedVector & { readonly voucher: SignedVector | null }) | null;
};

type SignedVector = {
  readonly public_key: string;
  readonly signature_hex: string;
  readonly message_hex: string;
};

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** The attestation of a golden escrow as the instruction that comes with a release. */
const attestationOf = (name: string) => {
  const { escrow } = goldenEscrow(name);
  const { attestation } = escrow;
  const message = attestedMessage(escrow, NETWORK);
  if (attestation === null || message === null) throw new Error(`${name} is not attested`);
  const signature = new Uint8Array(Buffer.from(attestation.signature, "base64"));
  const publicKey = escrow.attestor;
  const { data } = ed25519Instruction({ publicKey, signature, message });
  const claim = {
    public_key: publicKey as string,
    signature_hex: hex(signature),
    message_hex: hex(message),
    voucher: null,
  };
  return { data: Uint8Array.from(data), claim, parts: { publicKey, signature, message } };
};

/** What a session's release comes with: its final attestation, and the closing voucher for exactly that. */
const sessionProof = () => {
  const { escrow } = goldenEscrow("session-released");
  const { claim, parts } = attestationOf("session-released");
  const message = voucherMessage({
    domain: domainOf(NETWORK),
    terms: termsOf(escrow),
    orders: escrow.taskHash,
    total: escrow.released,
    count: escrow.deliveries,
    isClosing: true,
  });
  const key = ed25519Key(5);
  const publicKey = escrow.sessionKey ?? escrow.attestor;
  const voucher = { publicKey, signature: key.sign(message), message };
  return {
    data: Uint8Array.from(ed25519Instruction(parts, voucher).data),
    swapped: Uint8Array.from(ed25519Instruction(voucher, parts).data),
    claim: {
      ...claim,
      voucher: {
        public_key: publicKey as string,
        signature_hex: hex(voucher.signature),
        message_hex: hex(message),
      },
    },
  };
};

/** Offsets of the header's three u16 instruction indices. Each names the instruction that holds the part. */
const INDICES = { signature: 4, key: 8, message: 14 } as const;
const MESSAGE_LENGTH_AT = 12;

const withU16 = (data: Uint8Array, at: number, value: number): Uint8Array => {
  const changed = Uint8Array.from(data);
  new DataView(changed.buffer).setUint16(at, value, true);
  return changed;
};

/** The same parts in another order, with unused bytes between them. */
const rearranged = (): Uint8Array => {
  const { publicKey, signature, message } = attestationOf("fulfilled").parts;
  const places = [200, 0xffff, 20, 0xffff, 60, message.length, 0xffff];
  const data = new Uint8Array(264);
  const view = new DataView(data.buffer);
  view.setUint8(0, 1);
  places.forEach((value, i) => view.setUint16(2 + 2 * i, value, true));
  data.set(addressToBytes(publicKey), 20);
  data.set(message, 60);
  data.set(signature, 200);
  return data;
};

/** The data with a message of another length, which its header says. */
const resized = (length: number): Uint8Array => {
  const { data } = attestationOf("fulfilled");
  const all = new Uint8Array(112 + length);
  all.set(data.subarray(0, all.length));
  return withU16(all, MESSAGE_LENGTH_AT, length);
};

/** Ed25519 instructions that every reader must read or pass over as the custody program does. */
export const instructionVectors = (): ReadonlyArray<InstructionVector> => {
  const full = attestationOf("fulfilled");
  const partial = attestationOf("partially-fulfilled");
  const reads = (
    name: string,
    why: string,
    data: Uint8Array,
    claim: InstructionVector["claim"] = full.claim,
  ) => ({
    name,
    why,
    data_hex: hex(data),
    claim,
  });
  const passes = (name: string, why: string, data: Uint8Array): InstructionVector => ({
    name,
    why,
    data_hex: hex(data),
    claim: null,
  });
  const session = sessionProof();
  const elsewhere = Object.entries(INDICES).flatMap(([part, at]) =>
    [0, 1, 0xfffe].map((index) =>
      passes(
        `${part}-in-instruction-${index}`,
        `the ${part} is said to be in instruction ${index}: the index must be 65535, also where the instruction's own place is ${index}`,
        withU16(full.data, at, index),
      ),
    ),
  );
  return [
    reads("full-release", "the attestation of fulfilled.json", full.data),
    reads(
      "partial-release",
      "the attestation of partially-fulfilled.json",
      partial.data,
      partial.claim,
    ),
    passes("another-order", "the parts in another order, with unused bytes between", rearranged()),
    passes("padding-set", "the byte after the count is not 0", full.data.with(1, 255)),
    passes(
      "something-behind",
      "unused bytes behind the message",
      new Uint8Array([...full.data, 1, 2]),
    ),
    passes("message-shorter", "a message of 127 bytes", resized(127)),
    passes("message-longer", "a message of 129 bytes", resized(129)),
    ...elsewhere,
    passes("no-data", "no bytes", new Uint8Array()),
    passes("header-cut-short", "15 bytes", full.data.slice(0, 15)),
    passes("no-signature", "a count of 0", full.data.with(0, 0)),
    passes("two-signatures", "a count of 2", full.data.with(0, 2)),
    reads(
      "session",
      "the attestation of session-released.json, and the closing voucher for it",
      session.data,
      session.claim,
    ),
    ...[
      ["session-voucher-first", "the voucher before the attestation", session.swapped],
      ["session-one-counted", "a count of 1", session.data.with(0, 1)],
      ["session-three-counted", "a count of 3", session.data.with(0, 3)],
      ["session-something-behind", "an unused byte behind", Uint8Array.of(...session.data, 0)],
      ["session-cut-short", "the voucher ends behind the data", session.data.slice(0, -1)],
      ["session-voucher-elsewhere", "the voucher in instruction 0", withU16(session.data, 28, 0)],
      [
        "session-voucher-shares",
        "the voucher's signature is said to be the attestation's",
        withU16(session.data, 16, 62),
      ],
    ].map(([name, why, data]) => passes(name as string, why as string, data as Uint8Array)),
    passes("message-cut-short", "the message ends behind the data", full.data.slice(0, -1)),
    passes(
      "message-too-long",
      "the message is said to be longer",
      withU16(full.data, MESSAGE_LENGTH_AT, 129),
    ),
    passes("key-behind-data", "the key is behind the data", withU16(full.data, 6, 0xffff)),
    passes(
      "signature-behind-data",
      "the signature is behind the data",
      withU16(full.data, 2, 0xffff),
    ),
  ];
};
