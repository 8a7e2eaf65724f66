#pragma once

#include "pda.h"

/* The upgradeable loader's ProgramData account: u32 tag 3, u64 slot, Option<Pubkey> upgrade authority, then the ELF
   (Agave: sdk loader-v3-interface, UpgradeableLoaderState). */
#define PROGRAM_DATA_TAG 3
#define PROGRAM_DATA_HAS_AUTHORITY 12
#define PROGRAM_DATA_AUTHORITY 13
#define PROGRAM_DATA_HEADER 45

/* `authority` (whose signature the caller has checked) may upgrade this program now. An immutable program has none. */
static inline u64 require_upgrade_authority(const Input *input, const AccountInfo *program_data,
                                            const AccountInfo *authority) {
  u8 bump;
  const Slice seeds[] = {{input->program_id, 32}};
  REQUIRE(same32(program_data->owner, &ADDRESS_UPGRADEABLE_LOADER) && program_data->data_len >= PROGRAM_DATA_HEADER &&
              read_u32(program_data->data) == PROGRAM_DATA_TAG &&
              is_canonical(program_data->key, seeds, 1, &ADDRESS_UPGRADEABLE_LOADER, &bump),
          ERROR_WRONG_PROGRAM_DATA);
  REQUIRE(program_data->data[PROGRAM_DATA_HAS_AUTHORITY] == 1 &&
              same32((const Pubkey *)(program_data->data + PROGRAM_DATA_AUTHORITY), authority->key),
          ERROR_NOT_UPGRADE_AUTHORITY);
  return 0;
}
