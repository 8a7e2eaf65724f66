#pragma once

#include "../sdk/event.h"
#include "ledger-event.h"

/* The escrow's associated token account, made by the Associated Token program or found made already: anyone may have
   made it, but nobody could have changed it, since only the escrow's address signs for it. */
NOINLINE u64 create_vault(const Input *input, u8 *bump) {
  const AccountInfo *account = input->account;
  const AccountInfo *vault = &account[CREATE_ESCROW_VAULT];
  const AccountInfo *escrow = &account[CREATE_ESCROW_ESCROW];
  const AccountInfo *mint = &account[CREATE_ESCROW_MINT];
  /* Hashing alone finds the bump of a right address; whether it is the canonical one, the Associated Token program checks. */
  for (*bump = 255; !is_associated_address(vault->key, escrow->key, mint->key, *bump); --*bump)
    REQUIRE(*bump > 0, ERROR_WRONG_VAULT);
  Call *call = new_call(&ADDRESS_ASSOCIATED_TOKEN_PROGRAM);
  call_account(call, &account[CREATE_ESCROW_PAYER], true, true);
  call_account(call, vault, false, true);
  call_account(call, escrow, false, false);
  call_account(call, mint, false, false);
  call_account(call, &account[CREATE_ESCROW_SYSTEM_PROGRAM], false, false);
  call_account(call, &account[CREATE_ESCROW_TOKEN_PROGRAM], false, false);
  call_u8(call, 1); /* AssociatedTokenAccountInstruction::CreateIdempotent */
  TRY(invoke(call, input, NULL, 0));
  REQUIRE(is_token_account(vault, mint->key, escrow->key), ERROR_WRONG_VAULT);
  return 0;
}

NOINLINE void emit_escrow_created(const Pubkey *key, const Escrow *escrow) {
  const EscrowCreated event = {
      .discriminator = EVENT_ESCROW_CREATED,
      .escrow = *key,
      .agent_owner = escrow->agent_owner,
      .merchant = escrow->merchant,
      .mint = escrow->mint,
      .amount = escrow->amount,
      .task_hash = escrow->task_hash,
      .created_at = escrow->created_at,
      .expires_at = escrow->expires_at,
      .attestor = escrow->attestor,
      .session_key = escrow->session_key,
      .seq = escrow->created_seq,
  };
  emit(&event, ESCROW_CREATED_SIZE);
}

NOINLINE u64 create_escrow(Input *input) {
  TRY(require_shape(input, CREATE_ESCROW_ACCOUNTS, CREATE_ESCROW_SIGNERS, CREATE_ESCROW_WRITABLES,
                    CREATE_ESCROW_ARGS_SIZE));
  const CreateEscrowArgs *args = (const CreateEscrowArgs *)input->data;
  const AccountInfo *account = input->account;
  const AccountInfo *agent_owner = &account[CREATE_ESCROW_AGENT_OWNER];
  const AccountInfo *wallet = &account[CREATE_ESCROW_MERCHANT_WALLET];
  const AccountInfo *mint = &account[CREATE_ESCROW_MINT];
  const AccountInfo *escrow_account = &account[CREATE_ESCROW_ESCROW];
  const AccountInfo *source = &account[CREATE_ESCROW_AGENT_TOKEN_ACCOUNT];
  REQUIRE(same32(account[CREATE_ESCROW_TOKEN_PROGRAM].key, &ADDRESS_TOKEN_PROGRAM), ERROR_WRONG_TOKEN_PROGRAM);
  REQUIRE(same32(account[CREATE_ESCROW_ASSOCIATED_TOKEN_PROGRAM].key, &ADDRESS_ASSOCIATED_TOKEN_PROGRAM),
          ERROR_WRONG_ASSOCIATED_TOKEN_PROGRAM);
  REQUIRE(same32(account[CREATE_ESCROW_SYSTEM_PROGRAM].key, &ADDRESS_SYSTEM_PROGRAM), ERROR_WRONG_SYSTEM_PROGRAM);
  REQUIRE(args->amount > 0, ERROR_INVALID_AMOUNT);
  i64 now = ledger_time();
  i64 expires_at = args->ttl_seconds ? now + (i64)args->ttl_seconds : args->expires_at;
  REQUIRE(args->ttl_seconds == 0 || args->expires_at == 0, ERROR_INVALID_TTL);
  REQUIRE(expires_at > now && expires_at <= now + MAX_TTL_SECONDS, ERROR_INVALID_TTL);

  CustodyConfig *config;
  const Merchant *merchant = (const Merchant *)account[CREATE_ESCROW_MERCHANT].data;
  TRY(load_config(input, &account[CREATE_ESCROW_CONFIG], &config));
  TRY(require_merchant(&account[CREATE_ESCROW_MERCHANT], wallet->key, &config->attestor_program));
  REQUIRE(merchant->status == MERCHANT_STATUS_ACTIVE, ERROR_MERCHANT_SUSPENDED);
  REQUIRE(is_zero32(&args->attestor) || same32(&args->attestor, &merchant->attestor), ERROR_ATTESTOR_CHANGED);
  REQUIRE(is_mint(mint), ERROR_WRONG_MINT);
  REQUIRE(is_token_account(source, mint->key, agent_owner->key), ERROR_WRONG_AGENT_TOKEN_ACCOUNT);
  REQUIRE(token_amount(source) >= args->amount, ERROR_INSUFFICIENT_FUNDS);

  u8 bump;
  u8 vault_bump;
  LoadedEscrow *seeded = (LoadedEscrow *)HEAP_STATE;
  set_escrow_seeds(seeded, agent_owner->key, &args->task_hash, &bump);
  REQUIRE(is_canonical(escrow_account->key, seeded->seeds, 3, input->program_id, &bump), ERROR_WRONG_ESCROW);
  REQUIRE(!same32(escrow_account->owner, input->program_id), ERROR_ESCROW_EXISTS);
  TRY(create_pda(input, &account[CREATE_ESCROW_PAYER], escrow_account, ESCROW_SIZE, &seeded->signer));
  TRY(create_vault(input, &vault_bump));
  const AccountInfo *transfer[] = {source, &account[CREATE_ESCROW_VAULT], agent_owner};
  TRY(token_transfer(input, transfer, args->amount, NULL));

  Escrow *escrow = (Escrow *)escrow_account->data;
  escrow->discriminator = ACCOUNT_ESCROW;
  escrow->version = ACCOUNT_VERSION;
  escrow->bump = bump;
  escrow->vault_bump = vault_bump;
  escrow->agent_owner = *agent_owner->key;
  escrow->merchant = *wallet->key;
  escrow->mint = *mint->key;
  escrow->rent_payer = *account[CREATE_ESCROW_PAYER].key;
  escrow->task_hash = args->task_hash;
  escrow->amount = args->amount;
  escrow->created_at = now;
  escrow->expires_at = expires_at;
  escrow->attestor = merchant->attestor;
  escrow->session_key = args->session_key;
  TRY(number_event(config, escrow_account, &escrow->created_seq));
  emit_escrow_created(escrow_account->key, escrow);
  return 0;
}
