import type { Step } from "./arazzo.ts";

const JSON_BODY = "application/json";
const DATA = "$response.body#/data";

/** A simple criterion on the answer's status. */
const status = (code: number) => ({ condition: `$statusCode == ${code}` });

/** A criterion on the members of `data`, as the comparisons of a JSONPath filter. */
const ofData = (comparisons: string) =>
  ({
    context: "$response.body",
    type: "jsonpath",
    condition: `$[?(${comparisons})]`,
  }) as const;

/** Asks again, each second, while the answer has one of these statuses. */
const askAgain = (codes: ReadonlyArray<number>, retryLimit: number) =>
  codes.map(
    (code) =>
      ({
        name: `askAgainAfter${code}`,
        type: "retry",
        retryAfter: 1,
        retryLimit,
        criteria: [status(code)],
      }) as const,
  );

/** Answers that say nothing about the request: too many of them, or no ledger. */
const BUSY = [429, 502, 503, 504] as const;
const BUSY_LIMIT = 30;
const OUTCOME_LIMIT = 120;

/** The trust document, obtained before any packet. */
export const pinTrust: Step = {
  stepId: "pinTrust",
  description: "Keep what the packet is verified with before there is a packet.",
  operationId: "readEvidenceTrust",
  successCriteria: [status(200)],
  onFailure: askAgain(BUSY, BUSY_LIMIT),
  outputs: { trust: "$response.body" },
};

/** The unsigned transaction that locks the payment, and the agent's signature. */
export const prepareCreate: Step = {
  stepId: "prepareCreate",
  description: "Get the transaction that locks the payment, and sign it as the agent.",
  operationId: "prepareEscrow",
  parameters: [{ name: "transaction", in: "query", value: true }],
  requestBody: {
    contentType: JSON_BODY,
    payload: {
      agent_owner: "$inputs.agent",
      merchant: "$inputs.merchant",
      mint: "$inputs.mint",
      amount_stroops: "$inputs.amount",
      ttl_seconds: "$inputs.ttlSeconds",
      task_intent: "$inputs.task",
      nonce: "$inputs.nonce",
    },
  },
  successCriteria: [status(200)],
  onFailure: askAgain(BUSY, BUSY_LIMIT),
  outputs: { escrow: `${DATA}/escrow_pda`, taskHash: `${DATA}/inputs/task_hash` },
  "x-sign": {
    type: "transaction",
    value: `${DATA}/transaction/base64`,
    signers: `${DATA}/transaction/signers`,
    output: "signedTransaction",
    check:
      "The agent is the only signer; the last instruction is create_escrow of the custody program with these terms; the others only set limits of a small fee.",
  },
};

/** The prepared settlement of the escrow, with the payer's signature. */
export const prepareSettlement = (
  stepId: string,
  description: string,
  operationId: string,
  payload: Readonly<Record<string, string>>,
): Step => ({
  stepId,
  description,
  operationId,
  parameters: [
    { name: "pda", in: "path", value: "$steps.prepareCreate.outputs.escrow" },
    { name: "transaction", in: "query", value: true },
  ],
  requestBody: { contentType: JSON_BODY, payload: { ...payload, payer: "$inputs.payer" } },
  successCriteria: [status(200)],
  onFailure: askAgain(BUSY, BUSY_LIMIT),
  "x-sign": {
    type: "transaction",
    value: `${DATA}/transaction/base64`,
    signers: `${DATA}/transaction/signers`,
    output: "signedTransaction",
    check:
      "The payer is the only signer; one instruction is of the custody program and concerns this escrow; the others set limits of a small fee, make a token account or verify the attestation.",
  },
});

/**
 * The steps that send what `prepared` signed and wait until it is final. What expired unseen is prepared and signed
 * anew.
 */
export const landing = (name: string, prepared: string): ReadonlyArray<Step> => [
  {
    stepId: `relay${name}`,
    description: "Send the signed transaction. The same bytes can be sent any number of times.",
    operationId: "relayTransaction",
    requestBody: {
      contentType: JSON_BODY,
      payload: {
        signed_transaction: `$steps.${prepared}.outputs.signedTransaction`,
        confirm: true,
      },
    },
    successCriteria: [status(202)],
    onFailure: askAgain(BUSY, BUSY_LIMIT),
    outputs: { signature: `${DATA}/signature` },
  },
  {
    stepId: `outcome${name}`,
    description: "Ask what became of it until it is final.",
    operationId: "readRelayOutcome",
    parameters: [{ name: "signature", in: "path", value: `$steps.relay${name}.outputs.signature` }],
    successCriteria: [status(200), ofData("@.commitment == 'finalized' && @.error == null")],
    onFailure: [
      {
        name: "signAgain",
        type: "goto",
        stepId: prepared,
        criteria: [ofData("@.status == 'expired' && @.safe_to_sign_again == true")],
      },
      {
        name: "failed",
        type: "end",
        criteria: [ofData("@.commitment == 'finalized' && @.error != null")],
      },
      ...askAgain([200, 404, ...BUSY], OUTCOME_LIMIT),
    ],
  },
];

/** Waits until the ledger's clock has passed the escrow's expiry, for at most `seconds`. */
export const waitForExpiry = (seconds: number): Step => ({
  stepId: "waitForExpiry",
  description: "Nobody delivers. Wait until the escrow can be refunded.",
  operationId: "readEscrow",
  parameters: [{ name: "pda", in: "path", value: "$steps.prepareCreate.outputs.escrow" }],
  successCriteria: [status(200), ofData("@.refundable == true")],
  onFailure: askAgain([200, ...BUSY], seconds),
});

/** The packet about the settled escrow. */
export const readPacket = (decision: "released" | "refunded"): Step => ({
  stepId: "evidence",
  description: `Get the packet, which says that the payment was ${decision}, and verify it offline under the pinned trust document.`,
  operationId: "buildEvidence",
  parameters: [
    { name: "pda", in: "path", value: "$steps.prepareCreate.outputs.escrow" },
    { name: "download", in: "query", value: "json" },
  ],
  successCriteria: [
    status(200),
    { condition: `${DATA}/settlement_decision/status == '${decision}'` },
  ],
  // 409: the settlement is confirmed and not finalized yet.
  onFailure: askAgain([200, 409, ...BUSY], OUTCOME_LIMIT),
  outputs: { packet: "$response.body", digest: "$response.body#/signature/digest_sha256" },
});

/** The outputs of a life. */
export const WORKFLOW_OUTPUTS = {
  escrow: "$steps.prepareCreate.outputs.escrow",
  trust: "$steps.pinTrust.outputs.trust",
  packet: "$steps.evidence.outputs.packet",
  digest: "$steps.evidence.outputs.digest",
} as const;

/** The attestor's signature over the delivery claim. */
export const attest: Step = {
  stepId: "attest",
  description: "Get the delivery claim, and sign it with the attestor's key.",
  operationId: "prepareAttestation",
  parameters: [{ name: "pda", in: "path", value: "$steps.prepareCreate.outputs.escrow" }],
  requestBody: { contentType: JSON_BODY, payload: { proof_hash: "$inputs.proofHash" } },
  successCriteria: [status(200)],
  onFailure: askAgain(BUSY, BUSY_LIMIT),
  outputs: { timestamp: `${DATA}/timestamp` },
  "x-sign": {
    type: "message",
    value: `${DATA}/message_base64`,
    signers: `${DATA}/attestor`,
    output: "signature",
    check:
      "128 bytes: the ledger and its custody program, the escrow's terms, the proof hash of what was delivered, the total and the ledger's time.",
  },
};
