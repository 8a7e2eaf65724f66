import type { StateRule } from "../../../core/use-cases/request-errors.ts";

const SIGN_AGAIN =
  "Prepare the attestation again and have the escrow's attestor sign its new message.";
const NAME_AN_ACCOUNT =
  "Have the payee make an account of its own that can be paid, without delegate or close authority, and name it as fallback account.";

/** What the caller can do when a prepare operation or the relay finds that a rule does not hold. */
const CURES: Partial<Readonly<Record<StateRule, string>>> = {
  not_pending:
    "Nothing is left to settle. Follow the escrow's next actions for what is left in its vault and for its rent.",
  expired: "Prepare the refund.",
  not_expired:
    "Wait until the escrow has ended, or have the merchant's wallet cancel it; the agent's wallet can close a session.",
  nothing_left: "Nothing is left to do. Read the escrow or its evidence.",
  escrow_archived: "What is left of it is returned by its refund and its rent.",
  not_session: "Prepare the release: only a session is captured or closed.",
  session_closing: "Wait until the session has ended, and prepare the refund then.",
  voucher_missing: "Add the voucher of the session's key.",
  voucher_signature_invalid:
    "Have the session's key sign the voucher of this escrow, ledger and program.",
  wrong_session_key: "Have the voucher signed by the session key that the escrow records.",
  wrong_voucher:
    "Capture what the voucher covers; release with the closing voucher of exactly the attested total and count.",
  deliveries_fall: "Send the newest attestation: deliveries are counted from the first one on.",
  not_settled: "Settle the escrow first.",
  not_archivable: "Wait until seven days have passed since the settlement.",
  attestation_stale: SIGN_AGAIN,
  attestation_in_future: SIGN_AGAIN,
  attestation_outside_escrow: SIGN_AGAIN,
  attestor_revoked:
    "Have the merchant's wallet cancel the escrow, or refund it once it has expired.",
  payout_account_unusable: NAME_AN_ACCOUNT,
  payout_account_shared: NAME_AN_ACCOUNT,
  payout_account_wrong_owner: NAME_AN_ACCOUNT,
  payout_account_wrong_mint: NAME_AN_ACCOUNT,
  vault_frozen: "Have the mint's freeze authority thaw the vault.",
  payer_cannot_pay: "Name a wallet that holds enough, or fund the one that was named.",
  signer_is_derived:
    "Have the program that derives the address make the call itself, with the instruction as it was prepared.",
  merchant_exists: "Prepare a rotation of its attestor instead.",
  merchant_unregistered: "Have the merchant register first.",
  merchant_suspended: "Choose another merchant: a suspended one takes no new escrows.",
  attestor_unchanged: "Name another key.",
  attestor_changed: "Read the merchant, and ask with its present attestor if you trust that one.",
  attestor_unusable: "Have the merchant rotate to a key that can sign.",
  escrow_address_taken: "Read that escrow. Send a fresh nonce only for another payment.",
  deployment_not_initialized: "Have the deployer initialise both programs.",
  mint_unusable: "Name a mint of the SPL Token program.",
  agent_account_missing: "Make the agent's associated token account for the mint and fund it.",
  agent_account_frozen: "Have the mint's freeze authority thaw the account.",
  insufficient_funds: "Fund the agent's token account.",
};

/** What to do about a rule, undefined where nothing is said of this one alone. */
export const ownStateCure = (rule: StateRule): string | undefined => CURES[rule];

/** What to do about a rule that does not hold. */
export const stateCure = (rule: StateRule): string =>
  ownStateCure(rule) ?? "Read the escrow and follow its next actions.";
