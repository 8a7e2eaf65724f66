#pragma once

/* Generated from attestor.idl.json by build.ts. */

#include "../sdk/types.h"

enum { MERCHANT_STATUS_ACTIVE = 0, MERCHANT_STATUS_SUSPENDED = 1 };

#define ACCOUNT_MERCHANT 0x402015e7281eeb47ull
typedef struct {
  u64 discriminator;
  u8 version;
  u8 bump;
  u8 status;
  u8 name_len;
  u8 reserved[4];
  Pubkey merchant;
  Pubkey attestor;
  Pubkey previous_attestor;
  i64 attestor_since;
  Bytes32 name;
  i64 registered_at;
  i64 updated_at;
  u32 reputation;
  u32 slashes;
  u64 deliveries;
  u64 partial_deliveries;
  u64 volume;
  u64 revoked_seq;
} Merchant;
_Static_assert(__builtin_offsetof(Merchant, revoked_seq) == 200, "laid out as borsh");
#define MERCHANT_SIZE 208

#define ACCOUNT_REGISTRY 0xdafcb6b8f66eae2full
typedef struct {
  u64 discriminator;
  u8 version;
  u8 bump;
  u8 reserved[6];
  Pubkey admin;
  Pubkey custody_program;
  Pubkey settlement_mint;
  Pubkey proposed_admin;
} Registry;
_Static_assert(__builtin_offsetof(Registry, proposed_admin) == 112, "laid out as borsh");
#define REGISTRY_SIZE 144

#define EVENT_MERCHANT_REGISTERED 0x5311ef8b5f8c3dcaull
typedef struct {
  u64 discriminator;
  Pubkey merchant;
  Pubkey attestor;
  i64 registered_at;
} MerchantRegistered;
_Static_assert(__builtin_offsetof(MerchantRegistered, registered_at) == 72, "laid out as borsh");
#define MERCHANT_REGISTERED_SIZE 80

#define EVENT_ATTESTOR_ROTATED 0x3f0cbd6210e7562cull
typedef struct {
  u64 discriminator;
  Pubkey merchant;
  Pubkey previous_attestor;
  Pubkey attestor;
  i64 rotated_at;
  u64 revoked_seq;
} AttestorRotated;
_Static_assert(__builtin_offsetof(AttestorRotated, revoked_seq) == 112, "laid out as borsh");
#define ATTESTOR_ROTATED_SIZE 120

#define EVENT_MERCHANT_STATUS_CHANGED 0x0ef43a54b4833a11ull
typedef struct {
  u64 discriminator;
  Pubkey merchant;
  u8 status;
  i64 changed_at;
} __attribute__((packed)) MerchantStatusChanged;
_Static_assert(__builtin_offsetof(MerchantStatusChanged, changed_at) == 41, "laid out as borsh");
#define MERCHANT_STATUS_CHANGED_SIZE 49

#define EVENT_MERCHANT_SLASHED 0xaab6d8a3fc18c9b0ull
typedef struct {
  u64 discriminator;
  Pubkey merchant;
  u32 points;
  u32 reputation;
  i64 slashed_at;
} MerchantSlashed;
_Static_assert(__builtin_offsetof(MerchantSlashed, slashed_at) == 48, "laid out as borsh");
#define MERCHANT_SLASHED_SIZE 56

#define EVENT_ADMIN_PROPOSED 0xf36e52c7e3e2f981ull
typedef struct {
  u64 discriminator;
  Pubkey admin;
  Pubkey proposed_admin;
} AdminProposed;
_Static_assert(__builtin_offsetof(AdminProposed, proposed_admin) == 40, "laid out as borsh");
#define ADMIN_PROPOSED_SIZE 72

#define EVENT_ADMIN_CHANGED 0x7213123ee21f22e8ull
typedef struct {
  u64 discriminator;
  Pubkey previous_admin;
  Pubkey admin;
} AdminChanged;
_Static_assert(__builtin_offsetof(AdminChanged, admin) == 40, "laid out as borsh");
#define ADMIN_CHANGED_SIZE 72

#define IX_INITIALIZE_REGISTRY 0x3bf939ae1114b5bdull
#define INITIALIZE_REGISTRY_SIGNERS 0x3
#define INITIALIZE_REGISTRY_WRITABLES 0x5
enum {
  INITIALIZE_REGISTRY_PAYER,
  INITIALIZE_REGISTRY_UPGRADE_AUTHORITY,
  INITIALIZE_REGISTRY_REGISTRY,
  INITIALIZE_REGISTRY_PROGRAM_DATA,
  INITIALIZE_REGISTRY_CUSTODY_PROGRAM,
  INITIALIZE_REGISTRY_SYSTEM_PROGRAM,
  INITIALIZE_REGISTRY_ACCOUNTS
};
typedef struct {
  u64 discriminator;
  Pubkey settlement_mint;
} InitializeRegistryArgs;
_Static_assert(__builtin_offsetof(InitializeRegistryArgs, settlement_mint) == 8, "laid out as borsh");
#define INITIALIZE_REGISTRY_ARGS_SIZE 40

#define IX_REGISTER_MERCHANT 0xf8d858a1844df5eeull
#define REGISTER_MERCHANT_SIGNERS 0x3
#define REGISTER_MERCHANT_WRITABLES 0x5
enum {
  REGISTER_MERCHANT_PAYER,
  REGISTER_MERCHANT_MERCHANT_WALLET,
  REGISTER_MERCHANT_MERCHANT,
  REGISTER_MERCHANT_REGISTRY,
  REGISTER_MERCHANT_SYSTEM_PROGRAM,
  REGISTER_MERCHANT_ACCOUNTS
};
typedef struct {
  u64 discriminator;
  Pubkey attestor;
} RegisterMerchantArgs;
_Static_assert(__builtin_offsetof(RegisterMerchantArgs, attestor) == 8, "laid out as borsh");
#define REGISTER_MERCHANT_ARGS_SIZE 40

#define IX_ROTATE_ATTESTOR 0x8650a8339eb5f0d2ull
#define ROTATE_ATTESTOR_SIGNERS 0x1
#define ROTATE_ATTESTOR_WRITABLES 0x2
enum {
  ROTATE_ATTESTOR_MERCHANT_WALLET,
  ROTATE_ATTESTOR_MERCHANT,
  ROTATE_ATTESTOR_REGISTRY,
  ROTATE_ATTESTOR_CUSTODY_CONFIG,
  ROTATE_ATTESTOR_ACCOUNTS
};
typedef struct {
  u64 discriminator;
  Pubkey attestor;
  u8 revoke;
} RotateAttestorArgs;
_Static_assert(__builtin_offsetof(RotateAttestorArgs, revoke) == 40, "laid out as borsh");
#define ROTATE_ATTESTOR_ARGS_SIZE 41

#define IX_SET_MERCHANT_STATUS 0x66d4e2e9c863ac4cull
#define SET_MERCHANT_STATUS_SIGNERS 0x1
#define SET_MERCHANT_STATUS_WRITABLES 0x4
enum {
  SET_MERCHANT_STATUS_ADMIN,
  SET_MERCHANT_STATUS_REGISTRY,
  SET_MERCHANT_STATUS_MERCHANT,
  SET_MERCHANT_STATUS_ACCOUNTS
};
typedef struct {
  u64 discriminator;
  u8 status;
} SetMerchantStatusArgs;
_Static_assert(__builtin_offsetof(SetMerchantStatusArgs, status) == 8, "laid out as borsh");
#define SET_MERCHANT_STATUS_ARGS_SIZE 9

#define IX_SLASH_MERCHANT 0xb50c352aef9c8e04ull
#define SLASH_MERCHANT_SIGNERS 0x1
#define SLASH_MERCHANT_WRITABLES 0x4
enum {
  SLASH_MERCHANT_ADMIN,
  SLASH_MERCHANT_REGISTRY,
  SLASH_MERCHANT_MERCHANT,
  SLASH_MERCHANT_ACCOUNTS
};
typedef struct {
  u64 discriminator;
  u32 points;
} SlashMerchantArgs;
_Static_assert(__builtin_offsetof(SlashMerchantArgs, points) == 8, "laid out as borsh");
#define SLASH_MERCHANT_ARGS_SIZE 12

#define IX_PROPOSE_ADMIN 0xea752757d4c7d679ull
#define PROPOSE_ADMIN_SIGNERS 0x1
#define PROPOSE_ADMIN_WRITABLES 0x2
enum {
  PROPOSE_ADMIN_ADMIN,
  PROPOSE_ADMIN_REGISTRY,
  PROPOSE_ADMIN_ACCOUNTS
};
typedef struct {
  u64 discriminator;
  Pubkey admin;
} ProposeAdminArgs;
_Static_assert(__builtin_offsetof(ProposeAdminArgs, admin) == 8, "laid out as borsh");
#define PROPOSE_ADMIN_ARGS_SIZE 40

#define IX_ACCEPT_ADMIN 0xaa0db5745a2d2a70ull
#define ACCEPT_ADMIN_SIGNERS 0x1
#define ACCEPT_ADMIN_WRITABLES 0x2
enum {
  ACCEPT_ADMIN_PROPOSED_ADMIN,
  ACCEPT_ADMIN_REGISTRY,
  ACCEPT_ADMIN_ACCOUNTS
};
typedef struct {
  u64 discriminator;
} AcceptAdminArgs;
_Static_assert(__builtin_offsetof(AcceptAdminArgs, discriminator) == 0, "laid out as borsh");
#define ACCEPT_ADMIN_ARGS_SIZE 8

#define IX_RECORD_DELIVERY 0xd65db181d3fbf548ull
#define RECORD_DELIVERY_SIGNERS 0x1
#define RECORD_DELIVERY_WRITABLES 0x2
enum {
  RECORD_DELIVERY_ESCROW,
  RECORD_DELIVERY_MERCHANT,
  RECORD_DELIVERY_REGISTRY,
  RECORD_DELIVERY_ACCOUNTS
};
typedef struct {
  u64 discriminator;
  u64 total;
} RecordDeliveryArgs;
_Static_assert(__builtin_offsetof(RecordDeliveryArgs, total) == 8, "laid out as borsh");
#define RECORD_DELIVERY_ARGS_SIZE 16

#ifdef PROGRAM_ATTESTOR
enum {
  ERROR_INVALID_INSTRUCTION = 6100,
  ERROR_MISSING_ACCOUNT = 6101,
  ERROR_MISSING_SIGNATURE = 6102,
  ERROR_ACCOUNT_NOT_WRITABLE = 6103,
  ERROR_WRONG_PROGRAM_DATA = 6104,
  ERROR_NOT_UPGRADE_AUTHORITY = 6105,
  ERROR_ALREADY_INITIALIZED = 6106,
  ERROR_WRONG_REGISTRY = 6107,
  ERROR_WRONG_CUSTODY_PROGRAM = 6108,
  ERROR_WRONG_SYSTEM_PROGRAM = 6109,
  ERROR_NOT_ADMIN = 6110,
  ERROR_WRONG_MERCHANT = 6111,
  ERROR_MERCHANT_EXISTS = 6112,
  ERROR_INVALID_NAME = 6113,
  ERROR_INVALID_ATTESTOR = 6114,
  ERROR_INVALID_STATUS = 6115,
  ERROR_WRONG_ESCROW = 6116,
  ERROR_ESCROW_NOT_PENDING = 6117,
  ERROR_TOO_MANY_ACCOUNTS = 6126,
  ERROR_WRONG_CONFIG = 6127,
  ERROR_NOT_PROPOSED_ADMIN = 6129,
};
#define ACCOUNT_VERSION 3
#define MAX_NAME_BYTES 32
static const Pubkey ADDRESS_UPGRADEABLE_LOADER = {{0xb0a1884e91f6a802ull, 0x2bae63f73e1510e2ull, 0xd224c1163db9c200ull, 0x00008004107a53c0ull}};
static const Pubkey ADDRESS_SYSTEM_PROGRAM = {{0x0000000000000000ull, 0x0000000000000000ull, 0x0000000000000000ull, 0x0000000000000000ull}};
#endif
