#pragma once

#include "../sdk/loader-v3.h"
#include "accounts.h"

NOINLINE u64 initialize_registry(Input *input) {
  TRY(require_shape(input, INITIALIZE_REGISTRY_ACCOUNTS, INITIALIZE_REGISTRY_SIGNERS, INITIALIZE_REGISTRY_WRITABLES,
                    INITIALIZE_REGISTRY_ARGS_SIZE));
  const InitializeRegistryArgs *args = (const InitializeRegistryArgs *)input->data;
  const AccountInfo *account = input->account;
  const AccountInfo *registry_account = &account[INITIALIZE_REGISTRY_REGISTRY];
  const AccountInfo *authority = &account[INITIALIZE_REGISTRY_UPGRADE_AUTHORITY];
  const AccountInfo *custody_program = &account[INITIALIZE_REGISTRY_CUSTODY_PROGRAM];
  REQUIRE(same32(account[INITIALIZE_REGISTRY_SYSTEM_PROGRAM].key, &ADDRESS_SYSTEM_PROGRAM), ERROR_WRONG_SYSTEM_PROGRAM);
  TRY(require_upgrade_authority(input, &account[INITIALIZE_REGISTRY_PROGRAM_DATA], authority));
  REQUIRE(custody_program->executable, ERROR_WRONG_CUSTODY_PROGRAM);

  u8 bump;
  Slice seeds[] = {{"registry", 8}, {&bump, 1}};
  REQUIRE(is_canonical(registry_account->key, seeds, 1, input->program_id, &bump), ERROR_WRONG_REGISTRY);
  REQUIRE(!same32(registry_account->owner, input->program_id), ERROR_ALREADY_INITIALIZED);
  const SignerSeeds signer = {seeds, 2};
  TRY(create_pda(input, &account[INITIALIZE_REGISTRY_PAYER], registry_account, REGISTRY_SIZE, &signer));

  Registry *registry = (Registry *)registry_account->data;
  registry->discriminator = ACCOUNT_REGISTRY;
  registry->version = ACCOUNT_VERSION;
  registry->bump = bump;
  registry->admin = *authority->key;
  registry->custody_program = *custody_program->key;
  registry->settlement_mint = args->settlement_mint;
  return 0;
}
