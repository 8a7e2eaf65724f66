import { Effect } from "effect";
import { parseAddress } from "../../domain/address.ts";
import { isMerchantName, showsSomething } from "../../domain/merchant/merchant.ts";
import { MERCHANT_ACCOUNT_LENGTH } from "../../protocol/accounts/merchant-account.ts";
import { merchantAddress } from "../../protocol/addresses/addresses.ts";
import { registerMerchantInstruction } from "../../protocol/instructions/attestor-instructions.ts";
import { depositFor } from "../../protocol/rules/lamport-rules.ts";
import { Instance } from "../../../ports/instance.ts";
import { type DraftCall, finishCall } from "../escrow/prepare/finish-call.ts";
import {
  attestorFaults,
  checkTransactionSigner,
  nobodysFaults,
  parseSending,
  type SendingRequest,
} from "../escrow/prepare/parse-sending.ts";
import { addressFault, InvalidAddress, ValidationFailed } from "../request-errors.ts";
import { readMerchantGround, wrongMerchantState } from "./merchant-ground.ts";

/** Who registers. Only the types of the members are checked. */
export type PrepareMerchantRequest = SendingRequest & {
  /** The merchant's wallet. */
  readonly merchant: string;
  readonly attestor: string;
  readonly name: string;
};

/**
 * The instruction that registers a merchant's wallet with its attestor key. Fails with `WrongState` when it is
 * registered already, `InvalidAddress` and `ValidationFailed` for a field of the request, and like a read of the
 * ledger. See docs/prepare.md, "Prepare operations".
 */
export const prepareMerchant = Effect.fn("prepareMerchant")(function* (
  request: PrepareMerchantRequest,
) {
  const { deployment } = yield* Instance;
  const merchant = parseAddress(request.merchant);
  const attestor = parseAddress(request.attestor);
  if (merchant === undefined || attestor === undefined)
    return yield* new InvalidAddress<"merchant" | "attestor">([
      ...(merchant === undefined ? [addressFault("merchant" as const)] : []),
      ...(attestor === undefined ? [addressFault("attestor" as const)] : []),
    ]);
  const sending = yield* parseSending(request, merchant);
  const payer = sending.payer ?? merchant;
  const unsigned = [...nobodysFaults({ merchant }), ...attestorFaults(attestor)];
  if (unsigned.length > 0) return yield* new ValidationFailed<"merchant" | "attestor">(unsigned);
  yield* checkTransactionSigner("merchant", merchant, sending.wantsTransaction);
  if (!isMerchantName(request.name))
    return yield* new ValidationFailed<"name">([
      {
        field: "name",
        detail:
          "must be 1 to 32 bytes of UTF-8 without characters that control display or direction",
      },
    ]);
  if (!showsSomething(request.name))
    return yield* new ValidationFailed<"name">([
      { field: "name", detail: "must have a character that shows: this one is all blanks" },
    ]);
  const ground = yield* readMerchantGround(merchant, payer);
  if (ground.merchant !== null)
    return yield* wrongMerchantState(
      ground,
      "merchant_exists",
      `the wallet ${merchant} is registered already, as ${ground.merchant.address}; its attestor can be rotated`,
    );
  const { name } = request;
  const { address } = merchantAddress(deployment, merchant);
  const lamports = depositFor(ground.find(address), MERCHANT_ACCOUNT_LENGTH, ground.rent);
  const draft: DraftCall = {
    operation: "register_merchant",
    instructions: [registerMerchantInstruction(deployment, { payer, merchant, attestor, name })],
    payouts: [],
    warnings: [],
    until: null,
    cost: {
      deposits: [{ account: address, lamports }],
      returnedAtSettlement: 0n,
      returnedAtArchiving: 0n,
      kept: lamports,
    },
    returnedToPayer: 0n,
  };
  const call = yield* finishCall(draft, sending, ground, (rule, detail) =>
    wrongMerchantState(ground, rule, detail),
  );
  return { ...call, merchant, merchantAccount: address, attestor };
});
