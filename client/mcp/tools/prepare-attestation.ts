import type { PreparedAttestation } from "../../generated/contract.ts";
import { aText } from "../output.ts";
import { address, anyObject, optional, text } from "../parameter.ts";
import { rebuiltAttestation } from "../rebuilt-attestation.ts";
import { dataOf, tool } from "../tool.ts";

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
  output: {
    message_base64: aText(),
    attestor: aText("Who signs"),
    proof_hash: aText(),
    timestamp: aText(),
    until: aText(),
  },
  run: async (claim, { call, rebuilds }) => {
    const { escrow, payload, proof_hash, template_id, amount } = claim;
    const prepared = await dataOf<PreparedAttestation>(
      call,
      `/v1/escrows/${escrow}/attestation/prepare`,
      {
        body: {
          ...(payload === undefined ? {} : { payload }),
          ...(proof_hash === undefined ? {} : { proof_hash }),
          ...(template_id === undefined ? {} : { template_id }),
          ...(amount === undefined ? {} : { amount_stroops: amount }),
        },
      },
    );
    const { attestor, timestamp, until } = prepared;
    const message_base64 = rebuilds ? rebuiltAttestation(prepared, claim) : prepared.message_base64;
    return {
      result: { message_base64, attestor, proof_hash: prepared.proof_hash, timestamp, until },
    };
  },
});
