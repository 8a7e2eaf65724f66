#pragma once

#include "../sdk/loader-v3.h"
#include "ledger-event.h"

NOINLINE u64 initialize_custody(Input *input) {
  TRY(require_shape(input, INITIALIZE_CUSTODY_ACCOUNTS, INITIALIZE_CUSTODY_SIGNERS, INITIALIZE_CUSTODY_WRITABLES,
                    INITIALIZE_CUSTODY_ARGS_SIZE));
  const InitializeCustodyArgs *args = (const InitializeCustodyArgs *)input->data;
  const AccountInfo *account = input->account;
  const AccountInfo *config_account = &account[INITIALIZE_CUSTODY_CONFIG];
  const AccountInfo *attestor_program = &account[INITIALIZE_CUSTODY_ATTESTOR_PROGRAM];
  REQUIRE(same32(account[INITIALIZE_CUSTODY_SYSTEM_PROGRAM].key, &ADDRESS_SYSTEM_PROGRAM), ERROR_WRONG_SYSTEM_PROGRAM);
  TRY(require_upgrade_authority(input, &account[INITIALIZE_CUSTODY_PROGRAM_DATA],
                                &account[INITIALIZE_CUSTODY_UPGRADE_AUTHORITY]));
  REQUIRE(attestor_program->executable, ERROR_WRONG_ATTESTOR_PROGRAM);

  u8 bump;
  Slice seeds[] = {{"config", 6}, {&bump, 1}};
  REQUIRE(is_canonical(config_account->key, seeds, 1, input->program_id, &bump), ERROR_WRONG_CONFIG);
  REQUIRE(!same32(config_account->owner, input->program_id), ERROR_ALREADY_INITIALIZED);
  const SignerSeeds signer = {seeds, 2};
  TRY(create_pda(input, &account[INITIALIZE_CUSTODY_PAYER], config_account, CUSTODY_CONFIG_SIZE, &signer));

  CustodyConfig *config = (CustodyConfig *)config_account->data;
  config->discriminator = ACCOUNT_CUSTODY_CONFIG;
  config->version = ACCOUNT_VERSION;
  config->bump = bump;
  config->attestor_program = *attestor_program->key;
  begin_log(config, &args->genesis_hash, input->program_id);
  return 0;
}
