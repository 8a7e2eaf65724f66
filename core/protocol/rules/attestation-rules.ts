import { type Address, addressToBytes } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { SettlementFault, SettlementRule } from "../../domain/relay/settlement-rule.ts";
import { ED25519_PROGRAM } from "../addresses/well-known-addresses.ts";
import { canVerifyUnder, verifyEd25519 } from "../crypto/strict-ed25519.ts";
import {
  type AttestationClaim,
  attestationMessage,
  readEd25519Instruction,
} from "../instructions/attestation.ts";
import { readCalls } from "../instructions/program-call.ts";
import type { WireMessage } from "../transaction/wire-transaction.ts";
import type { CustodyCall } from "./custody-call.ts";

/** Parts of the signed message, in bytes; see docs/protocol.md, "Attestation". */
const PARTS = [
  { name: "escrow", at: 0, length: 32 },
  { name: "proof_hash", at: 32, length: 32 },
  { name: "timestamp", at: 64, length: 8 },
  { name: "amount", at: 72, length: 8 },
] as const;

/** Names of the parts in which a signed message differs from the one that is needed. */
const differingParts = (
  signed: Uint8Array,
  needed: Uint8Array,
): ReadonlyArray<(typeof PARTS)[number]["name"] | "length"> => {
  const parts = PARTS.filter(({ at, length }) => {
    const end = Math.min(at + length, signed.length, needed.length);
    for (let i = at; i < end; i++) if (signed[i] !== needed[i]) return true;
    return false;
  }).map(({ name }) => name);
  return signed.length === needed.length ? parts : ["length", ...parts];
};

/** Of several wrong instructions, the fault of the one that comes last in this list is reported: it is closest to correct. */
const CLOSENESS: ReadonlyArray<SettlementRule> = [
  "ed25519_malformed",
  "ed25519_points_elsewhere",
  "wrong_attestor_key",
  "message_differs",
  "attestation_signature_invalid",
];

type Judged = { readonly fault: SettlementFault; readonly closeness: number };

const messageDetail = (index: number, signed: Uint8Array, needed: Uint8Array) => {
  const parts = differingParts(signed, needed);
  const lengths =
    signed.length === needed.length
      ? ""
      : ` (it has ${signed.length} bytes; ${needed.length === 72 ? "a full release needs 72" : "a partial release needs 80"})`;
  return {
    parts: parts.length,
    detail: `the message signed in instruction ${index} differs in ${parts.join(", ")}${lengths}`,
  };
};

const fault = (rule: SettlementRule, detail: string, penalty = 0): Judged => ({
  fault: { rule, detail },
  closeness: CLOSENESS.indexOf(rule) - penalty / 10,
});

const judge = (
  index: number,
  data: Uint8Array,
  needed: Uint8Array,
  attestor: Address | undefined,
): Judged | undefined => {
  const read = readEd25519Instruction(data);
  if (read.kind === "malformed")
    return fault("ed25519_malformed", `Ed25519 instruction ${index} is malformed: ${read.detail}`);
  if (read.kind === "elsewhere")
    return fault(
      "ed25519_points_elsewhere",
      `Ed25519 instruction ${index} takes its ${read.part} from instruction ${read.instruction}; key, signature and message must be in its own data (65535)`,
    );
  const { publicKey, signature, message } = read;
  if (attestor !== undefined && publicKey !== attestor)
    return fault(
      "wrong_attestor_key",
      `instruction ${index} is signed by ${publicKey}; the attestor that the escrow records is ${attestor}`,
    );
  const { parts, detail } = messageDetail(index, message, needed);
  if (parts > 0) return fault("message_differs", detail, parts);
  if (!verifyEd25519(signature, message, addressToBytes(publicKey)))
    return fault(
      "attestation_signature_invalid",
      `the signature in instruction ${index} does not verify under its key ${publicKey}`,
    );
  return undefined;
};

/**
 * What is wrong with the attestation that a release needs: an earlier Ed25519 instruction with the
 * escrow's attestor over exactly this claim. `attestor` is undefined when it is not known before sending.
 */
export const attestationFault = (
  call: CustodyCall,
  claim: AttestationClaim & { readonly escrow: Address },
  attestor: Address | undefined,
): SettlementFault | undefined => {
  const needed = attestationMessage(claim);
  const candidates = call.instructions.flatMap(({ program, data }, index) =>
    program === ED25519_PROGRAM ? [{ index, data }] : [],
  );
  if (candidates.length === 0)
    return {
      rule: "ed25519_missing",
      detail: `no Ed25519 instruction comes before the release, instruction ${call.index}`,
    };
  let closest: Judged | undefined;
  for (const { index, data } of candidates.filter(({ index }) => index < call.index)) {
    const judged = judge(index, data, needed, attestor);
    if (judged === undefined) return undefined;
    if (closest === undefined || judged.closeness >= closest.closeness) closest = judged;
  }
  const late = candidates.filter(({ index }) => index > call.index);
  const fits = late.find(({ index, data }) => judge(index, data, needed, attestor) === undefined);
  const misplaced = fits ?? (closest === undefined ? late[0] : undefined);
  if (misplaced !== undefined)
    return {
      rule: "ed25519_misplaced",
      detail: `the Ed25519 instruction is instruction ${misplaced.index}, behind the release, instruction ${call.index}; it must come before it`,
    };
  return closest?.fault;
};

/**
 * The first attestor key that a transaction registers and under which no signature can ever verify: escrows of such a merchant
 * could not be released. The program accepts such a key.
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
