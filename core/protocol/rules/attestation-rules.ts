import { type Address, addressToBytes } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { ED25519_PROGRAM } from "../addresses/well-known-addresses.ts";
import { canVerifyUnder, verifyEd25519 } from "../crypto/strict-ed25519.ts";
import { type AttestationClaim, attestationMessage } from "../instructions/attestation.ts";
import { readEd25519Instruction } from "../instructions/ed25519-instruction.ts";
import { readCalls } from "../instructions/program-call.ts";
import type { WireMessage } from "../transaction/wire-transaction.ts";
import type { CustodyCall } from "./custody-call.ts";

/** Parts of the signed message, in bytes; see docs/protocol.md, "Attestation". */
const PARTS = [
  { name: "tag", at: 0, length: 8 },
  { name: "domain", at: 8, length: 32 },
  { name: "terms", at: 40, length: 32 },
  { name: "proof_hash", at: 72, length: 32 },
  { name: "total", at: 104, length: 8 },
  { name: "timestamp", at: 112, length: 8 },
  { name: "deliveries", at: 120, length: 4 },
  { name: "final", at: 124, length: 4 },
] as const;

/** The parts by which the custody program finds an escrow's attestation. */
const NAMING: ReadonlySet<string> = new Set(["tag", "domain", "terms"]);

/** Names of the parts in which a signed message of 128 bytes differs from the one that is needed. */
const differingParts = (
  signed: Uint8Array,
  needed: Uint8Array,
): ReadonlyArray<(typeof PARTS)[number]["name"]> =>
  PARTS.filter(({ at, length }) => {
    for (let i = at; i < at + length; i++) if (signed[i] !== needed[i]) return true;
    return false;
  }).map(({ name }) => name);

type Candidate = { readonly index: number } & ReturnType<typeof readEd25519Instruction>;
type Claimed = Extract<Candidate, { kind: "claim" }>;

/** How a candidate of the form differs from the attestation that is needed, null when it is another escrow's. */
const partsOf = ({ message }: Claimed, needed: Uint8Array) => {
  const parts = differingParts(message, needed);
  return parts.some((name) => NAMING.has(name)) ? null : parts;
};

/** What is wrong with the one attestation that names the terms. */
const claimFault = (
  { index, publicKey, signature, message }: Claimed,
  parts: ReadonlyArray<string>,
  attestor: Address,
): SettlementFault | undefined => {
  if (publicKey !== attestor)
    return {
      rule: "wrong_attestor_key",
      detail: `instruction ${index} is signed by ${publicKey}; the attestor that the escrow records is ${attestor}`,
    };
  if (parts.length > 0)
    return {
      rule: "message_differs",
      detail: `the message signed in instruction ${index} differs in ${parts.join(", ")}`,
    };
  if (!verifyEd25519(signature, message, addressToBytes(publicKey)))
    return {
      rule: "attestation_signature_invalid",
      detail: `the signature in instruction ${index} does not verify under its key ${publicKey}`,
    };
  return undefined;
};

const malformedFault = (candidate: Exclude<Candidate, Claimed>): SettlementFault =>
  candidate.kind === "malformed"
    ? {
        rule: "ed25519_malformed",
        detail: `Ed25519 instruction ${candidate.index} has not the form that custody takes: ${candidate.detail}`,
      }
    : {
        rule: "ed25519_points_elsewhere",
        detail: `Ed25519 instruction ${candidate.index} takes its ${candidate.part} from instruction ${candidate.instruction}; key, signature and message must be in its own data (65535)`,
      };

/** Which of the parts that name an escrow are others', as a person reads them. */
const OTHERS = [
  ["tag", "is no attestation of this protocol"],
  ["domain", "is for another ledger or custody program (domain)"],
  ["terms", "is for another escrow (terms)"],
] as const;

const termsFault = ({ index, message }: Claimed, needed: Uint8Array): SettlementFault => {
  const parts = new Set<string>(differingParts(message, needed));
  const others = OTHERS.flatMap(([name, words]) => (parts.has(name) ? [words] : []));
  return {
    rule: "terms_differ",
    detail: `the message signed in instruction ${index} ${others.join(" and ")}`,
  };
};

/**
 * What is wrong with the attestation that a release needs: the first earlier Ed25519 instruction of the one form that names this
 * ledger and these terms, with the escrow's attestor over exactly this claim. `needed` is undefined when the escrow is not known
 * before sending.
 */
export const attestationFault = (
  call: CustodyCall,
  needed: { readonly claim: AttestationClaim; readonly attestor: Address } | undefined,
): SettlementFault | undefined => {
  const all = call.instructions.flatMap(({ program, data }, index): ReadonlyArray<Candidate> =>
    program === ED25519_PROGRAM ? [{ index, ...readEd25519Instruction(data) }] : [],
  );
  const before = all.filter(({ index }) => index < call.index);
  const [late] = all.slice(before.length);
  const misplaced = (index: number): SettlementFault => ({
    rule: "ed25519_misplaced",
    detail: `the Ed25519 instruction is instruction ${index}, behind the release, instruction ${call.index}; it must come before it`,
  });
  if (before.length === 0)
    return late === undefined
      ? {
          rule: "ed25519_missing",
          detail: `no Ed25519 instruction comes before the release, instruction ${call.index}`,
        }
      : misplaced(late.index);
  const claimed = before.filter((each) => each.kind === "claim");
  if (needed === undefined || claimed.length === 0) {
    const other = before.findLast((each) => each.kind !== "claim");
    return claimed.length > 0 || other === undefined ? undefined : malformedFault(other);
  }
  const message = attestationMessage(needed.claim);
  for (const each of claimed) {
    const parts = partsOf(each, message);
    if (parts !== null) return claimFault(each, parts, needed.attestor);
  }
  const after = all.find(
    (each) => each.index > call.index && each.kind === "claim" && partsOf(each, message) !== null,
  );
  const nearest = claimed.at(-1);
  if (after !== undefined) return misplaced(after.index);
  return nearest === undefined ? undefined : termsFault(nearest, message);
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
