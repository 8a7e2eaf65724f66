import { Effect } from "effect";
import { parseAmount } from "../../../domain/amount.ts";
import { decodeBase64 } from "../../../domain/encoding/base64.ts";
import { parseHash32 } from "../../../domain/hash32.ts";
import { parseUnixTime } from "../../../domain/unix-time.ts";
import { termsOf } from "../../../protocol/accounts/escrow-account.ts";
import {
  attestationMessage,
  MAX_ATTESTATION_AGE_SECONDS,
  SINGLE_DELIVERY,
} from "../../../protocol/instructions/attestation.ts";
import { ed25519Instruction } from "../../../protocol/instructions/ed25519-instruction.ts";
import {
  releaseEscrowInstruction,
  releasePartialInstruction,
} from "../../../protocol/instructions/custody-instructions.ts";
import { Instance } from "../../../../ports/instance.ts";
import { type FieldFault, ValidationFailed } from "../../request-errors.ts";
import { checkInstructions, readSurroundings, wrongState } from "./escrow-surroundings.ts";
import { finishCall } from "./finish-call.ts";
import { parseOptionalAddresses, parseSending, type SendingRequest } from "./parse-sending.ts";
import { settlementDraft } from "./settlement-draft.ts";

/** A signed claim and the options of its release. Only the types of its members are checked. */
export type PrepareReleaseRequest = SendingRequest & {
  readonly proofHash: string;
  /** `YYYY-MM-DDThh:mm:ssZ` */
  readonly timestamp: string;
  /** Base units for the merchant in a partial release; undefined: all of them. */
  readonly amount?: string | undefined;
  /** Base64 of 64 bytes. */
  readonly attestationSignature: string;
  readonly merchantFallbackAccount?: string | undefined;
  readonly agentFallbackAccount?: string | undefined;
};

type Field = keyof PrepareReleaseRequest;

/** The claim in a request's texts. Fails with `ValidationFailed`, which names each field that is out of range. */
const parseClaim = (request: PrepareReleaseRequest) => {
  const proofHash = parseHash32(request.proofHash);
  const timestamp = parseUnixTime(request.timestamp);
  const signature = decodeBase64(request.attestationSignature);
  const amount = request.amount === undefined ? null : parseAmount(request.amount);
  const faults: Array<FieldFault<Field>> = [];
  if (proofHash === undefined) faults.push({ field: "proofHash", detail: "must be 64 hex digits" });
  if (timestamp === undefined)
    faults.push({ field: "timestamp", detail: "must be a time as YYYY-MM-DDThh:mm:ssZ" });
  if (signature?.length !== 64)
    faults.push({ field: "attestationSignature", detail: "must be base64 of 64 bytes" });
  if (amount === undefined)
    faults.push({
      field: "amount",
      detail: "must be a decimal integer from 1 without sign or leading zero",
    });
  return faults.length > 0 ||
    proofHash === undefined ||
    timestamp === undefined ||
    signature === undefined ||
    amount === undefined
    ? Effect.fail(new ValidationFailed<Field>(faults))
    : Effect.succeed({ proofHash, timestamp, signature, amount });
};

/**
 * The instructions that release an escrow with an attestation, once its signature verifies strictly. Fails with
 * `WrongState` when the ledger would refuse them at the slot that was read, `ValidationFailed` and `InvalidAddress` for
 * a field of the request, and as `readEscrow` does. See docs/protocol.md, "Prepare operations".
 */
export const prepareRelease = Effect.fn("prepareRelease")(function* (
  pda: string,
  request: PrepareReleaseRequest,
) {
  const { deployment } = yield* Instance;
  const { proofHash, timestamp, signature, amount } = yield* parseClaim(request);
  const sending = yield* parseSending(request);
  const { merchantFallbackAccount, agentFallbackAccount } = yield* parseOptionalAddresses({
    merchantFallbackAccount: request.merchantFallbackAccount,
    agentFallbackAccount: request.agentFallbackAccount,
  });
  const { payer } = sending;
  const surroundings = yield* readSurroundings(pda, [
    merchantFallbackAccount,
    agentFallbackAccount,
    payer,
  ]);
  const { escrow } = surroundings;
  const message = attestationMessage({
    domain: surroundings.view.domain,
    terms: termsOf(escrow),
    proofHash,
    total: amount ?? escrow.amount,
    timestamp,
    ...SINGLE_DELIVERY,
  });
  const input = {
    ...escrow,
    escrow: escrow.address,
    proofHash,
    timestamp,
    merchantFallbackAccount: merchantFallbackAccount ?? undefined,
    agentFallbackAccount: agentFallbackAccount ?? undefined,
  };
  const release =
    amount === null
      ? releaseEscrowInstruction(deployment, input)
      : releasePartialInstruction(deployment, { ...input, amount });
  const latest = timestamp + MAX_ATTESTATION_AGE_SECONDS + 1n;
  const draft = settlementDraft(surroundings, {
    operation: amount === null ? "release_escrow" : "release_partial",
    calls: [ed25519Instruction({ publicKey: escrow.attestor, signature, message }), release],
    sides: [
      { whose: "merchant", fallback: merchantFallbackAccount },
      ...(amount === null ? [] : [{ whose: "agent", fallback: agentFallbackAccount } as const]),
    ],
    payer,
    until: latest < escrow.expiresAt ? latest : escrow.expiresAt,
  });
  yield* checkInstructions(surroundings, draft, payer).pipe(
    Effect.catchIf(
      ({ rule }) => rule === "attestation_signature_invalid" || rule === "amount_out_of_range",
      ({ rule, detail }) =>
        Effect.fail(
          new ValidationFailed<Field>([
            rule === "amount_out_of_range"
              ? { field: "amount", detail }
              : {
                  field: "attestationSignature",
                  detail: `does not verify under the escrow's attestor ${escrow.attestor} over its claim`,
                },
          ]),
        ),
    ),
  );
  return yield* finishCall(draft, sending, surroundings, (rule, detail) =>
    wrongState(surroundings, rule, detail),
  );
});
