#pragma once

#include "../sdk/event.h"
#include "accounts.h"
#include "name.h"

NOINLINE void emit_merchant_registered(const Merchant *merchant) {
  const MerchantRegistered event = {
      .discriminator = EVENT_MERCHANT_REGISTERED,
      .merchant = merchant->merchant,
      .attestor = merchant->attestor,
      .registered_at = merchant->registered_at,
  };
  emit(&event, MERCHANT_REGISTERED_SIZE);
}

NOINLINE u64 register_merchant(Input *input) {
  const u8 *name;
  u64 name_len;
  TRY(require_shape(input, REGISTER_MERCHANT_ACCOUNTS, REGISTER_MERCHANT_SIGNERS, REGISTER_MERCHANT_WRITABLES,
                    input->data_len));
  TRY(read_last_argument(input, REGISTER_MERCHANT_ARGS_SIZE, &name, &name_len));
  REQUIRE(name_len >= 1 && name_len <= MAX_NAME_BYTES && is_name(name, name_len), ERROR_INVALID_NAME);
  const RegisterMerchantArgs *args = (const RegisterMerchantArgs *)input->data;
  const AccountInfo *account = input->account;
  const AccountInfo *wallet = &account[REGISTER_MERCHANT_MERCHANT_WALLET];
  const AccountInfo *merchant_account = &account[REGISTER_MERCHANT_MERCHANT];
  Registry *registry;
  REQUIRE(same32(account[REGISTER_MERCHANT_SYSTEM_PROGRAM].key, &ADDRESS_SYSTEM_PROGRAM), ERROR_WRONG_SYSTEM_PROGRAM);
  REQUIRE(!is_zero32(&args->attestor), ERROR_INVALID_ATTESTOR);
  TRY(load_registry(input, &account[REGISTER_MERCHANT_REGISTRY], &registry));

  u8 bump;
  Slice seeds[] = {{"merchant", 8}, {wallet->key, 32}, {&bump, 1}};
  REQUIRE(is_canonical(merchant_account->key, seeds, 2, input->program_id, &bump), ERROR_WRONG_MERCHANT);
  REQUIRE(!same32(merchant_account->owner, input->program_id), ERROR_MERCHANT_EXISTS);
  const SignerSeeds signer = {seeds, 3};
  TRY(create_pda(input, &account[REGISTER_MERCHANT_PAYER], merchant_account, MERCHANT_SIZE, &signer));

  Merchant *merchant = (Merchant *)merchant_account->data;
  merchant->discriminator = ACCOUNT_MERCHANT;
  merchant->version = ACCOUNT_VERSION;
  merchant->bump = bump;
  merchant->status = MERCHANT_STATUS_ACTIVE;
  merchant->name_len = (u8)name_len;
  merchant->merchant = *wallet->key;
  merchant->attestor = args->attestor;
  sol_memcpy_(&merchant->name, name, name_len);
  merchant->registered_at = ledger_time();
  merchant->attestor_since = merchant->registered_at;
  merchant->updated_at = merchant->registered_at;
  emit_merchant_registered(merchant);
  return 0;
}
