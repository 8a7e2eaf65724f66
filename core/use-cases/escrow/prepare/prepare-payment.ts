import { Effect } from "effect";
import { addressToBytes } from "../../../domain/address.ts";
import { endOf } from "../../../domain/escrow/escrow.ts";
import { termsOf } from "../../../protocol/accounts/escrow-account.ts";
import { verifyEd25519 } from "../../../protocol/crypto/strict-ed25519.ts";
import {
  attestationMessage,
  MAX_ATTESTATION_AGE_SECONDS,
} from "../../../protocol/instructions/attestation.ts";
import {
  captureInstruction,
  releaseEscrowInstruction,
} from "../../../protocol/instructions/custody-instructions.ts";
import { ed25519Instruction } from "../../../protocol/instructions/ed25519-instruction.ts";
import { voucherMessage } from "../../../protocol/instructions/voucher.ts";
import { Instance } from "../../../../ports/instance.ts";
import { type FieldFault, type StateRule, ValidationFailed } from "../../request-errors.ts";
import {
  checkInstructions,
  heldIn,
  readSurroundings,
  type Surroundings,
  wrongState,
} from "./escrow-surroundings.ts";
import { finishCall } from "./finish-call.ts";
import { type ClaimRequest, parseClaim } from "./parse-claim.ts";
import { parseOptionalAddresses, parseSending, type SendingRequest } from "./parse-sending.ts";
import { settlementDraft } from "./settlement-draft.ts";

/** A signed claim and the options of its payment. Only the types of its members are checked. */
export type PreparePaymentRequest = SendingRequest &
  ClaimRequest & {
    readonly merchantFallbackAccount?: string | undefined;
    /** Whether the payment alone is wanted, without what could follow it in the same transaction. */
    readonly bare?: boolean | undefined;
  };

type Field = Exclude<keyof PreparePaymentRequest, "bare">;
type Claim = Effect.Success<ReturnType<typeof parseClaim>>;

/** What signatures name of this ledger and escrow. */
const namedIn = ({ escrow, view }: Surroundings) => ({
  domain: view.domain,
  terms: termsOf(escrow),
});

/** The attestation's message that a claim is of. */
const attestedIn = (surroundings: Surroundings, claim: Claim, isFinal: boolean): Uint8Array =>
  attestationMessage({
    ...claim,
    ...namedIn(surroundings),
    total: claim.amount ?? surroundings.escrow.amount,
    isFinal,
  });

/** The Ed25519 instruction with the claim's signatures over the messages that name this ledger and escrow. */
const proofInstruction = (surroundings: Surroundings, claim: Claim, isFinal: boolean) => {
  const { escrow } = surroundings;
  const { signature, voucher } = claim;
  const message = attestedIn(surroundings, claim, isFinal);
  const attestation = { publicKey: escrow.attestor, signature, message };
  if (voucher === null) return ed25519Instruction(attestation);
  return ed25519Instruction(attestation, {
    // A single payment takes no voucher whoever signed it.
    publicKey: escrow.sessionKey ?? escrow.attestor,
    signature: voucher.signature,
    message: voucherMessage({ ...voucher, ...namedIn(surroundings) }),
  });
};

/** The fields at which a rule's fault is told, with words for those whose own speak of instructions. */
const FIELD_OF: Partial<Readonly<Record<StateRule, FieldFault<Field>>>> = {
  voucher_missing: { field: "voucher", detail: "is needed: the escrow is a session" },
  ed25519_malformed: { field: "voucher", detail: "is not taken: the escrow is a single payment" },
  attestation_signature_invalid: {
    field: "attestationSignature",
    detail: "does not verify under the escrow's attestor over its claim",
  },
  voucher_signature_invalid: {
    field: "voucher",
    inside: "/signature",
    detail: "does not verify under the escrow's session key over the voucher",
  },
  wrong_voucher: { field: "voucher", detail: "" },
  amount_out_of_range: { field: "amount", detail: "" },
  deliveries_fall: { field: "deliveries", detail: "" },
  message_differs: { field: "deliveries", detail: "must be 1: the escrow is a single payment" },
};

/** What an attestation's signature that does not verify is where it is one over the message of the other kind. */
const otherKind = (
  surroundings: Surroundings,
  claim: Claim,
  isFinal: boolean,
): FieldFault<Field> | undefined =>
  verifyEd25519(
    claim.signature,
    attestedIn(surroundings, claim, !isFinal),
    addressToBytes(surroundings.escrow.attestor),
  )
    ? {
        field: "attestationSignature",
        detail: isFinal
          ? "is of an attestation that is not final, and a release takes only a final one"
          : "is of a final attestation, and a capture takes none: release the escrow with it",
      }
    : undefined;

/** The payment of an escrow's merchant; `prepareRelease` and `prepareCapture` say when. */
const preparePayment = Effect.fnUntraced(function* (
  operation: "capture" | "release_escrow",
  pda: string,
  request: PreparePaymentRequest,
) {
  const { deployment } = yield* Instance;
  const claim = yield* parseClaim(request);
  const sending = yield* parseSending(request);
  const { merchantFallbackAccount: fallback } = yield* parseOptionalAddresses({
    merchantFallbackAccount: request.merchantFallbackAccount,
  });
  const { payer } = sending;
  const surroundings = yield* readSurroundings(pda, [fallback, payer]);
  const { escrow } = surroundings;
  const isFinal = operation === "release_escrow";
  const input = {
    ...escrow,
    escrow: escrow.address,
    merchantFallbackAccount: fallback ?? undefined,
  };
  const payment = isFinal
    ? releaseEscrowInstruction(deployment, input)
    : captureInstruction(deployment, input);
  const end = endOf(escrow);
  const total = claim.amount ?? escrow.amount;
  // A release of the whole amount empties the vault.
  const moved = isFinal && total === escrow.amount ? heldIn(surroundings) : total - escrow.released;
  const latest = claim.timestamp + MAX_ATTESTATION_AGE_SECONDS + 1n;
  const draft = settlementDraft(surroundings, {
    operation,
    calls: [proofInstruction(surroundings, claim, isFinal), payment],
    side: { whose: "merchant", fallback },
    follows: isFinal ? { released: total } : null,
    payer,
    // A capture's attestation may be of any age.
    until: isFinal && latest < end ? latest : end,
    isBare: request.bare ?? false,
  });
  yield* checkInstructions(surroundings, draft, payer, moved !== 0n).pipe(
    Effect.catchTag("WrongState", (failure) => {
      const { rule, detail } = failure;
      const signed =
        rule === "attestation_signature_invalid"
          ? otherKind(surroundings, claim, isFinal)
          : undefined;
      const at = signed ?? FIELD_OF[rule];
      return Effect.fail(
        at === undefined
          ? failure
          : new ValidationFailed<Field>([{ ...at, detail: at.detail || detail }]),
      );
    }),
  );
  return yield* finishCall(draft, sending, surroundings, (rule, detail) =>
    wrongState(surroundings, rule, detail),
  );
});

/**
 * The instructions that release an escrow with a final attestation, and with the closing voucher of a session, once
 * their signatures verify strictly; behind them the agent's rest and the rent, as far as they fit. Fails with
 * `WrongState` when the ledger would refuse them at the slot that was read, `ValidationFailed` and `InvalidAddress` for
 * a field of the request, and as `readEscrow` does. See docs/prepare.md, "Prepare operations".
 */
export const prepareRelease = Effect.fn("prepareRelease")(
  (pda: string, request: PreparePaymentRequest) => preparePayment("release_escrow", pda, request),
);

/**
 * The instructions that pay a session's merchant what is attested and vouched for and was not captured before. Fails as
 * `prepareRelease` does. See docs/prepare.md, "Prepare operations".
 */
export const prepareCapture = Effect.fn("prepareCapture")(
  (pda: string, request: Omit<PreparePaymentRequest, "bare">) =>
    preparePayment("capture", pda, request),
);
