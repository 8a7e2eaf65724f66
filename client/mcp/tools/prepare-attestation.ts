import { parseAmount } from "../../../core/domain/amount.ts";
import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { proofHash } from "../../../core/domain/evidence/proof-template.ts";
import { parseHash32 } from "../../../core/domain/hash32.ts";
import { parseUnixTime } from "../../../core/domain/unix-time.ts";
import {
  attestationMessage,
  domainOf,
  SINGLE_DELIVERY,
} from "../../../core/protocol/instructions/attestation.ts";
import {
  type EscrowTerms,
  readEscrowTerms,
  requireSinglePayment,
} from "../../merchant/settle/escrow-terms.ts";
import { type DeliveryPayload, payloadFault } from "../../pay/delivery.ts";
import { SettlementError } from "../../settlement-error.ts";
import { ask, membersOf } from "../ask.ts";
import { knownDeployment } from "../known-deployment.ts";
import { at, heldTo, type HeldTo, type ShownBy } from "../output.ts";
import { address, anyObject, optional, text, type ValuesOf } from "../parameter.ts";
import { tool } from "../tool.ts";

const parameters = {
  escrow: address(),
  payload: optional(anyObject("What was delivered; it is hashed")),
  proof_hash: optional(text()),
  template_id: optional(text()),
  amount: optional(text("Base units, for a partial release")),
} as const;

/** A claim as the caller made it. */
type Claim = ValuesOf<typeof parameters>;

const OPERATION = "POST /v1/escrows/{pda}/attestation/prepare";

const OUTPUT = {
  message_base64: "data.message_base64",
  attestor: at("data.attestor", "Who signs"),
  proof_hash: "data.proof_hash",
  timestamp: "data.timestamp",
  until: "data.until",
} as const satisfies ShownBy<typeof OPERATION>;

/**
 * The proof hash that a claim names, or that of its payload. Undefined when there is neither, when the two differ, and
 * for a payload that can be read in two ways.
 */
const hashOf = ({ payload, proof_hash: given }: Claim) => {
  if (payload === undefined) return given === undefined ? undefined : parseHash32(given);
  const delivered = payload as DeliveryPayload;
  const hash = payloadFault(delivered) === null ? proofHash(delivered) : undefined;
  return given === undefined || given === hash ? hash : undefined;
};

/**
 * The message that an attestor signs for a claim, in base64, built anew. Proof hash and amount are the caller's, ledger
 * and program the policy's; the escrow's terms and the time are the service's, and false ones release nothing. @throws
 * SettlementError `prepared_otherwise` when the service prepared another message
 */
const rebuiltAttestation = (
  told: HeldTo<typeof OUTPUT>,
  claim: Claim,
  { escrow, terms, amount: whole }: EscrowTerms,
  policy: TrustPolicy,
): string => {
  const hash = hashOf(claim);
  const timestamp = parseUnixTime(told.timestamp);
  const amount = claim.amount === undefined ? null : parseAmount(claim.amount);
  if (hash !== undefined && timestamp !== undefined && amount !== undefined) {
    const rebuilt = attestationMessage({
      domain: domainOf(policy),
      terms,
      proofHash: hash,
      total: amount ?? whole,
      timestamp,
      ...SINGLE_DELIVERY,
    });
    const message = encodeBase64(rebuilt);
    if (message === told.message_base64 && hash === told.proof_hash) return message;
  }
  throw new SettlementError(
    "prepared_otherwise",
    `The service prepared another message than that of this claim about ${escrow}.`,
    "Sign nothing of it, and do not use this service before its operator has explained it.",
  );
};

/** `prepare_attestation`: the message that an escrow's attestor signs. */
export const prepareAttestation = tool({
  name: "prepare_attestation",
  description:
    "For the merchant's side: the message that the attestor signs (Ed25519) to attest a delivery. Give payload or proof_hash.",
  parameters,
  output: OUTPUT,
  run: async (claim, context) => {
    const told = heldTo(OUTPUT, await ask(context.call, OPERATION, membersOf(claim)));
    if (!context.rebuilds) return { result: told };
    const { policy } = await knownDeployment(context);
    const requests = { answer: context.call };
    const terms = await readEscrowTerms({ policy, requests }, claim.escrow);
    requireSinglePayment(terms);
    return { result: { ...told, message_base64: rebuiltAttestation(told, claim, terms, policy) } };
  },
});
