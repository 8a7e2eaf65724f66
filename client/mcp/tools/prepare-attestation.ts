import { parseAmount } from "../../../core/domain/amount.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { proofHash } from "../../../core/domain/evidence/proof-template.ts";
import { parseHash32 } from "../../../core/domain/hash32.ts";
import { parseUnixTime } from "../../../core/domain/unix-time.ts";
import { attestationMessage } from "../../../core/protocol/instructions/attestation.ts";
import { type DeliveryPayload, payloadFault } from "../../pay/delivery.ts";
import { addressNamed } from "../../pinned-policy.ts";
import { SettlementError } from "../../settlement-error.ts";
import { ask, membersOf } from "../ask.ts";
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
 * The message that an attestor signs for a claim, in base64, built anew. Escrow, proof hash and amount are the
 * caller's; only the time is the service's. @throws SettlementError `prepared_otherwise` when the service prepared
 * another message
 */
const rebuiltAttestation = (told: HeldTo<typeof OUTPUT>, claim: Claim): string => {
  const escrow = addressNamed(claim.escrow, "escrow");
  const hash = hashOf(claim);
  const timestamp = parseUnixTime(told.timestamp);
  const amount = claim.amount === undefined ? null : parseAmount(claim.amount);
  if (hash !== undefined && timestamp !== undefined && amount !== undefined) {
    const whole = { escrow, proofHash: hash, timestamp };
    const message = encodeBase64(
      attestationMessage(amount === null ? whole : { ...whole, partialAmount: amount }),
    );
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
  run: async (claim, { call, rebuilds }) => {
    const told = heldTo(OUTPUT, await ask(call, OPERATION, membersOf(claim)));
    if (!rebuilds) return { result: told };
    return { result: { ...told, message_base64: rebuiltAttestation(told, claim) } };
  },
});
