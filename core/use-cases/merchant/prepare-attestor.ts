import { Effect } from "effect";
import { parseAddress } from "../../domain/address.ts";
import { isOffCurve } from "../../protocol/crypto/curve-point.ts";
import { rotateAttestorInstruction } from "../../protocol/instructions/attestor-instructions.ts";
import { Instance } from "../../../ports/instance.ts";
import { type DraftCall, finishCall } from "../escrow/prepare/finish-call.ts";
import {
  attestorFaults,
  checkTransactionSigner,
  nobodysFaults,
  parseSending,
  type SendingRequest,
} from "../escrow/prepare/parse-sending.ts";
import {
  addressFault,
  InvalidAddress,
  MerchantNotFound,
  ValidationFailed,
} from "../request-errors.ts";
import { readMerchantGround, wrongMerchantState } from "./merchant-ground.ts";

/** The new key. Only the types of the members are checked. */
export type PrepareAttestorRequest = SendingRequest & {
  readonly attestor: string;
  /** Whether to revoke: escrows made before the change then cannot be released. */
  readonly revoke?: boolean | undefined;
};

/**
 * The instruction with which a merchant's wallet names a new attestor key. Fails with `MerchantNotFound`, `WrongState`
 * when the key is the present one, `InvalidAddress` and `ValidationFailed` for a field of the request, and like a read
 * of the ledger. See docs/prepare.md, "Prepare operations".
 */
export const prepareAttestor = Effect.fn("prepareAttestor")(function* (
  wallet: string,
  request: PrepareAttestorRequest,
) {
  const { deployment } = yield* Instance;
  const merchant = parseAddress(wallet);
  const attestor = parseAddress(request.attestor);
  if (merchant === undefined || attestor === undefined)
    return yield* new InvalidAddress<"wallet" | "attestor">([
      ...(merchant === undefined ? [addressFault("wallet" as const)] : []),
      ...(attestor === undefined ? [addressFault("attestor" as const)] : []),
    ]);
  const sending = yield* parseSending(request, isOffCurve(merchant) ? null : merchant);
  const unsigned = [...nobodysFaults({ wallet: merchant }), ...attestorFaults(attestor)];
  if (unsigned.length > 0) return yield* new ValidationFailed<"wallet" | "attestor">(unsigned);
  yield* checkTransactionSigner("wallet", merchant, sending.wantsTransaction);
  const ground = yield* readMerchantGround(merchant, sending.payer ?? merchant);
  if (ground.merchant === null) return yield* new MerchantNotFound({ address: merchant });
  if (ground.merchant.attestor === attestor)
    return yield* wrongMerchantState(
      ground,
      "attestor_unchanged",
      `${attestor} is the merchant's attestor key already`,
    );
  const revoke = request.revoke ?? false;
  const draft: DraftCall = {
    operation: "rotate_attestor",
    instructions: [rotateAttestorInstruction(deployment, { merchant, attestor, revoke })],
    payouts: [],
    warnings: [],
    until: null,
    cost: { deposits: [], returnedAtSettlement: 0n, returnedAtArchiving: 0n, kept: 0n },
    returnedToPayer: 0n,
  };
  const call = yield* finishCall(draft, sending, ground, (rule, detail) =>
    wrongMerchantState(ground, rule, detail),
  );
  const { address: merchantAccount } = ground.merchant;
  return {
    ...call,
    merchant,
    merchantAccount,
    attestor,
    revoke,
    previous: ground.merchant.attestor,
  };
});
