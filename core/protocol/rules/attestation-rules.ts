import { addressToBytes } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import { type Hash32, hash32ToBytes } from "../../domain/hash32.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { termsOf } from "../accounts/escrow-account.ts";
import { ED25519_PROGRAM } from "../addresses/well-known-addresses.ts";
import { canVerifyUnder, verifyEd25519 } from "../crypto/strict-ed25519.ts";
import { ATTESTATION_TAG, NAMING_PARTS } from "../instructions/attestation.ts";
import {
  type Ed25519Form,
  readEd25519Instruction,
  type SignedMessage,
} from "../instructions/ed25519-instruction.ts";
import { readCalls } from "../instructions/program-call.ts";
import { VOUCHER_TAG } from "../instructions/voucher.ts";
import type { WireMessage } from "../transaction/wire-transaction.ts";
import type { CustodyCall } from "./custody-call.ts";

/** What every message must begin with: of which kind, ledger and escrow it is. */
type Named = {
  readonly attestation: Uint8Array;
  readonly voucher: Uint8Array;
};

const namedBy = (domain: Hash32, escrow: Escrow): Named => {
  const [ledger, terms] = [hash32ToBytes(domain), hash32ToBytes(termsOf(escrow))];
  return {
    attestation: Uint8Array.of(...ATTESTATION_TAG, ...ledger, ...terms),
    voucher: Uint8Array.of(...VOUCHER_TAG, ...ledger, ...terms),
  };
};

type Candidate = { readonly index: number; readonly form: Ed25519Form };

/** The parts that name an escrow in which a message is another's, as a person reads them. */
const othersIn = ({ message }: SignedMessage, needed: Uint8Array): ReadonlyArray<string> =>
  NAMING_PARTS.flatMap(({ at, length, other }) => {
    for (let i = at; i < at + length; i++) if (message[i] !== needed[i]) return [other];
    return [];
  });

/** What a payment's Ed25519 instruction holds that custody takes. */
export type Proof = {
  /** The index of the Ed25519 instruction. */
  readonly index: number;
  readonly attestation: SignedMessage;
  /** Null for a single payment. */
  readonly voucher: SignedMessage | null;
};

/** What a candidate lacks. The higher its rank, the nearer it comes to a proof. */
type Lack = { readonly rank: number; readonly fault: SettlementFault };

const malformedFault = ({ index, form }: Candidate, isSession: boolean): SettlementFault => {
  if (form.kind === "elsewhere")
    return {
      rule: "ed25519_points_elsewhere",
      detail: `Ed25519 instruction ${index} takes its ${form.part} from instruction ${form.instruction}; key, signature and message must be in its own data (65535)`,
    };
  const why =
    form.kind === "malformed"
      ? form.detail
      : isSession
        ? "it has one signature, and a session needs two"
        : "it has two signatures, and a single payment needs one";
  return {
    rule: "ed25519_malformed",
    detail: `Ed25519 instruction ${index} has not the form that custody takes: ${why}`,
  };
};

/** Reads a candidate as the custody program does: the proof for the escrow, or what it lacks. */
const readProof = (
  candidate: Candidate,
  isSession: boolean,
  named: Named,
): { readonly proof: Proof } | Lack => {
  const { index, form } = candidate;
  const malformed = () => ({ rank: 1, fault: malformedFault(candidate, isSession) });
  if (form.kind !== "single" && form.kind !== "session") return malformed();
  const others = othersIn(form.attestation, named.attestation);
  if (isSession && form.kind === "single")
    return others.length > 0
      ? malformed()
      : {
          rank: 3,
          fault: {
            rule: "voucher_missing",
            detail: `Ed25519 instruction ${index} attests for this session and has no voucher; both signatures must be in one instruction`,
          },
        };
  if (!isSession && form.kind === "session") return malformed();
  const voucher = form.kind === "session" ? form.voucher : null;
  const foreign = voucher === null ? [] : othersIn(voucher, named.voucher);
  if (others.length === 0 && foreign.length === 0)
    return { proof: { index, attestation: form.attestation, voucher } };
  const [whose, words] = others.length > 0 ? ["message", others] : ["voucher", foreign];
  return {
    rank: 2,
    fault: {
      rule: "terms_differ",
      detail: `the ${whose} signed in instruction ${index} ${words.join(" and ")}`,
    },
  };
};

const signatureFault = (
  index: number,
  { publicKey, signature, message }: SignedMessage,
  rule: "attestation_signature_invalid" | "voucher_signature_invalid",
): SettlementFault | undefined =>
  verifyEd25519(signature, message, addressToBytes(publicKey))
    ? undefined
    : {
        rule,
        detail: `the ${rule === "voucher_signature_invalid" ? "voucher's " : ""}signature in instruction ${index} does not verify under its key ${publicKey}`,
      };

/** What is wrong with the keys and signatures of the one proof that names the escrow. */
const signersFault = (
  { index, attestation, voucher }: Proof,
  { attestor, sessionKey }: Escrow,
): SettlementFault | undefined => {
  if (attestation.publicKey !== attestor)
    return {
      rule: "wrong_attestor_key",
      detail: `instruction ${index} is signed by ${attestation.publicKey}; the attestor that the escrow records is ${attestor}`,
    };
  const invalid = signatureFault(index, attestation, "attestation_signature_invalid");
  if (invalid !== undefined || voucher === null) return invalid;
  if (voucher.publicKey !== sessionKey)
    return {
      rule: "wrong_session_key",
      detail: `the voucher in instruction ${index} is signed by ${voucher.publicKey}; the session key that the escrow records is ${sessionKey}`,
    };
  return signatureFault(index, voucher, "voucher_signature_invalid");
};

const candidatesIn = (call: CustodyCall): ReadonlyArray<Candidate> =>
  call.instructions.flatMap(({ program, data }, index) =>
    program === ED25519_PROGRAM ? [{ index, form: readEd25519Instruction(data) }] : [],
  );

const misplaced = (call: CustodyCall, index: number): SettlementFault => ({
  rule: "ed25519_misplaced",
  detail: `the Ed25519 instruction is instruction ${index}, behind the payment, instruction ${call.index}; it must come before it`,
});

const missingFault = (call: CustodyCall, [late]: ReadonlyArray<Candidate>): SettlementFault =>
  late === undefined
    ? {
        rule: "ed25519_missing",
        detail: `no Ed25519 instruction comes before the payment, instruction ${call.index}`,
      }
    : misplaced(call, late.index);

/** What is wrong with the Ed25519 instructions of a payment whose escrow is not known before sending. */
export const formFault = (call: CustodyCall): SettlementFault | undefined => {
  const all = candidatesIn(call);
  const before = all.filter(({ index }) => index < call.index);
  const last = before.at(-1);
  if (last === undefined) return missingFault(call, all);
  const isFormed = before.some(({ form }) => form.kind === "single" || form.kind === "session");
  return isFormed ? undefined : malformedFault(last, false);
};

/**
 * The proof of a payment as the custody program finds it: the first earlier Ed25519 instruction of the form that the
 * escrow needs, whose
 * messages name this ledger and these terms, signed by the escrow's attestor and, in a session, its session key. Or
 * what is wrong.
 */
export const proofOf = (
  call: CustodyCall,
  escrow: Escrow,
  domain: Hash32,
): { readonly proof: Proof } | { readonly fault: SettlementFault } => {
  const all = candidatesIn(call);
  const named = namedBy(domain, escrow);
  const isSession = escrow.sessionKey !== null;
  let nearest: Lack | undefined;
  for (const candidate of all) {
    const read = readProof(candidate, isSession, named);
    if (candidate.index > call.index) {
      if ("proof" in read) return { fault: misplaced(call, candidate.index) };
      continue;
    }
    if ("proof" in read) {
      const fault = signersFault(read.proof, escrow);
      return fault === undefined ? read : { fault };
    }
    // Of those that come equally near, the last one is told.
    if (nearest === undefined || read.rank >= nearest.rank) nearest = read;
  }
  return { fault: nearest?.fault ?? missingFault(call, all) };
};

/**
 * The first attestor key that a transaction registers and under which no signature can ever verify: escrows of such a
 * merchant could not be released. The program accepts such a key.
 */
export const attestorKeyFault = (
  { instructions }: WireMessage,
  deployment: Deployment,
): (SettlementFault & { readonly instructionIndex: number }) | undefined => {
  for (const [instructionIndex, read] of readCalls(instructions, [], deployment).entries()) {
    if (read?.name !== "register_merchant" && read?.name !== "rotate_attestor") continue;
    const { attestor } = read.args;
    if (!canVerifyUnder(addressToBytes(attestor)))
      return {
        rule: "attestor_unusable",
        detail: `no signature verifies under the attestor key ${attestor}: it is not a point of the curve, or has small order`,
        instructionIndex,
      };
  }
  return undefined;
};
