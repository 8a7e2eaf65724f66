import type { Mutant } from "./mutants.ts";

const custody = (name: string, file: string, from: string, to: string): Mutant => ({
  name,
  program: "custody",
  file: `custody/${file}`,
  from,
  to,
});

/** The programs without one rule of docs/protocol.md, "custody". */
export const VETOES: ReadonlyArray<Mutant> = [
  custody(
    "an associated account that cannot be paid stops the payment",
    "payout.h",
    "if (!is_token_account(chosen, mint, payee->wallet) || !is_initialized(chosen)) {",
    "REQUIRE(is_token_account(chosen, mint, payee->wallet) && is_initialized(chosen), ERROR_PAYOUT_ACCOUNT_UNUSABLE);\n  if (0) {",
  ),
  custody(
    "an absent associated account stops the payment",
    "payout.h",
    "if (!is_token_account(chosen, mint, payee->wallet) || !is_initialized(chosen)) {",
    "REQUIRE(chosen->data_len == 165, ERROR_PAYOUT_ACCOUNT_UNUSABLE);\n  if (!is_token_account(chosen, mint, payee->wallet) || !is_initialized(chosen)) {",
  ),
  custody(
    "a frozen associated account stops the payment",
    "payout.h",
    " || !is_initialized(chosen)) {",
    ") {",
  ),
  custody(
    "the agent must have an account for nothing, too",
    "claim-refund.h",
    "if (token_amount(vault) > 0) {",
    "{",
  ),
  custody(
    "a session that was closed still goes by its expiry",
    "accounts.h",
    "return escrow->closes_at ? escrow->closes_at : escrow->expires_at;",
    "return escrow->expires_at;",
  ),
  custody(
    "what is archived pays nobody",
    "accounts.h",
    "if (!is_tombstone(input, account)) {",
    "if (true) {",
  ),
  custody(
    "a tombstone keeps the rent of an escrow",
    "return-rent.h",
    "give_rent(account, account->data_len, rent_payer);",
    "give_rent(account, ESCROW_SIZE, rent_payer);",
  ),
  custody(
    "the vault of a cancelled escrow is not the agent's",
    "claim-refund.h",
    "if (loaded->data->state != ESCROW_STATE_PENDING) return empty_vault(input, loaded, agent_token_bump);",
    "if (loaded->data->state != ESCROW_STATE_PENDING && loaded->data->settled_by == SETTLED_BY_RELEASE) return empty_vault(input, loaded, agent_token_bump);",
  ),
  custody(
    "what is left of a release stays in the vault",
    "claim-refund.h",
    "if (loaded->data->state != ESCROW_STATE_PENDING) return empty_vault(input, loaded, agent_token_bump);",
    "if (loaded->data->state == ESCROW_STATE_REFUNDED) return empty_vault(input, loaded, agent_token_bump);",
  ),
];
