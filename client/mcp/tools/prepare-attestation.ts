import { readEscrowTerms } from "../../merchant/settle/escrow-terms.ts";
import { knownDeployment } from "../known-deployment.ts";
import { aHash, anAddress, at, aTime, heldTo, someBytes } from "../output.ts";
import { address, anyObject, optional, text } from "../parameter.ts";
import { rebuiltAttestation } from "../rebuilt.ts";
import { answerOf, tool } from "../tool.ts";

const OUTPUT = {
  message_base64: at("data.message_base64", someBytes()),
  attestor: at("data.attestor", anAddress("Who signs")),
  proof_hash: at("data.proof_hash", aHash()),
  timestamp: at("data.timestamp", aTime()),
  until: at("data.until", aTime()),
};

/** `prepare_attestation`: the message that an escrow's attestor signs. */
export const prepareAttestation = tool({
  name: "prepare_attestation",
  description:
    "For the merchant's side: the message that the attestor signs (Ed25519) to attest a delivery. Give payload or proof_hash.",
  parameters: {
    escrow: address(),
    payload: optional(anyObject("What was delivered; it is hashed")),
    proof_hash: optional(text()),
    template_id: optional(text()),
    amount: optional(text("Base units, for a partial release")),
  },
  output: OUTPUT,
  run: async (claim, context) => {
    const { escrow, payload, proof_hash, template_id, amount } = claim;
    const answer = await answerOf(context.call, `/v1/escrows/${escrow}/attestation/prepare`, {
      body: {
        ...(payload === undefined ? {} : { payload }),
        ...(proof_hash === undefined ? {} : { proof_hash }),
        ...(template_id === undefined ? {} : { template_id }),
        ...(amount === undefined ? {} : { amount_stroops: amount }),
      },
    });
    const told = heldTo(OUTPUT, answer);
    if (!context.rebuilds) return { result: told };
    const { policy } = await knownDeployment(context);
    const terms = await readEscrowTerms({ policy, requests: { answer: context.call } }, escrow);
    const message_base64 = rebuiltAttestation(told, claim, terms, policy);
    return { result: { ...told, message_base64 } };
  },
});
