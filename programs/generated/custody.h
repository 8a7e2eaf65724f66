#pragma once

/* Generated from custody.idl.json by build.ts. */

#include "../sdk/types.h"

enum { ESCROW_STATE_PENDING = 0, ESCROW_STATE_FULFILLED = 1, ESCROW_STATE_REFUNDED = 2, ESCROW_STATE_PARTIALLY_FULFILLED = 3 };

#define ACCOUNT_CUSTODY_CONFIG 0x71f824d21f9da5f1ull
typedef struct {
  u64 discriminator;
  u8 version;
  u8 bump;
  u8 reserved[6];
  Pubkey attestor_program;
  Bytes32 domain;
  u64 count;
  Bytes32 frontier[40];
} CustodyConfig;
_Static_assert(__builtin_offsetof(CustodyConfig, frontier) == 88, "laid out as borsh");
#define CUSTODY_CONFIG_SIZE 1368

#define ACCOUNT_ESCROW 0x9bda16babb7bd51full
typedef struct {
  u64 discriminator;
  u8 version;
  u8 bump;
  u8 state;
  u8 vault_bump;
  u32 deliveries;
  Pubkey agent_owner;
  Pubkey merchant;
  Pubkey mint;
  Pubkey rent_payer;
  Bytes32 task_hash;
  u64 amount;
  u64 released;
  i64 created_at;
  i64 expires_at;
  i64 settled_at;
  Bytes32 proof_hash;
  Pubkey attestor;
  i64 attested_at;
  Bytes64 attestation_signature;
  u64 created_seq;
  u64 settled_seq;
  Pubkey session_key;
  u8 settled_by;
  u8 reserved[7];
  i64 closes_at;
} Escrow;
_Static_assert(__builtin_offsetof(Escrow, closes_at) == 408, "laid out as borsh");
#define ESCROW_SIZE 416

#define ACCOUNT_ARCHIVED_ESCROW 0xaf59bcd4b136306eull
typedef struct {
  u64 discriminator;
  u64 created_seq;
  u64 settled_seq;
  u8 state;
  u8 version;
  u8 reserved[6];
  Bytes32 pending_hash;
  Bytes32 last_hash;
} ArchivedEscrow;
_Static_assert(__builtin_offsetof(ArchivedEscrow, last_hash) == 64, "laid out as borsh");
#define ARCHIVED_ESCROW_SIZE 96

#define EVENT_ESCROW_CREATED 0xad07615c66697f46ull
typedef struct {
  u64 discriminator;
  Pubkey escrow;
  Pubkey agent_owner;
  Pubkey merchant;
  Pubkey mint;
  u64 amount;
  Bytes32 task_hash;
  i64 created_at;
  i64 expires_at;
  Pubkey attestor;
  Pubkey session_key;
  u64 seq;
} EscrowCreated;
_Static_assert(__builtin_offsetof(EscrowCreated, seq) == 256, "laid out as borsh");
#define ESCROW_CREATED_SIZE 264

#define EVENT_ESCROW_CAPTURED 0x6710c02ca18872b4ull
typedef struct {
  u64 discriminator;
  Pubkey escrow;
  Pubkey agent_owner;
  Pubkey merchant;
  Pubkey mint;
  u64 captured;
  u64 released;
  Bytes32 proof_hash;
  Pubkey attestor;
  i64 attested_at;
  u32 deliveries;
} EscrowCaptured;
_Static_assert(__builtin_offsetof(EscrowCaptured, deliveries) == 224, "laid out as borsh");
#define ESCROW_CAPTURED_SIZE 228

#define EVENT_ESCROW_SETTLED 0x17adb3cb37961b61ull
typedef struct {
  u64 discriminator;
  Pubkey escrow;
  Pubkey agent_owner;
  Pubkey merchant;
  Pubkey mint;
  u64 amount;
  u64 released;
  Bytes32 proof_hash;
  Pubkey attestor;
  i64 attested_at;
  i64 settled_at;
  u64 seq;
  u32 deliveries;
  u8 state;
  u8 settled_by;
} EscrowSettled;
_Static_assert(__builtin_offsetof(EscrowSettled, settled_by) == 245, "laid out as borsh");
#define ESCROW_SETTLED_SIZE 246

#define IX_INITIALIZE_CUSTODY 0xeadfefd078e4dae5ull
#define INITIALIZE_CUSTODY_SIGNERS 0x3
#define INITIALIZE_CUSTODY_WRITABLES 0x5
enum {
  INITIALIZE_CUSTODY_PAYER,
  INITIALIZE_CUSTODY_UPGRADE_AUTHORITY,
  INITIALIZE_CUSTODY_CONFIG,
  INITIALIZE_CUSTODY_PROGRAM_DATA,
  INITIALIZE_CUSTODY_ATTESTOR_PROGRAM,
  INITIALIZE_CUSTODY_SYSTEM_PROGRAM,
  INITIALIZE_CUSTODY_ACCOUNTS
};
typedef struct {
  u64 discriminator;
  Bytes32 genesis_hash;
} InitializeCustodyArgs;
_Static_assert(__builtin_offsetof(InitializeCustodyArgs, genesis_hash) == 8, "laid out as borsh");
#define INITIALIZE_CUSTODY_ARGS_SIZE 40

#define IX_CREATE_ESCROW 0x50446c2474a5d7fdull
#define CREATE_ESCROW_SIGNERS 0x3
#define CREATE_ESCROW_WRITABLES 0x1e1
enum {
  CREATE_ESCROW_PAYER,
  CREATE_ESCROW_AGENT_OWNER,
  CREATE_ESCROW_MERCHANT_WALLET,
  CREATE_ESCROW_MERCHANT,
  CREATE_ESCROW_MINT,
  CREATE_ESCROW_ESCROW,
  CREATE_ESCROW_VAULT,
  CREATE_ESCROW_AGENT_TOKEN_ACCOUNT,
  CREATE_ESCROW_CONFIG,
  CREATE_ESCROW_TOKEN_PROGRAM,
  CREATE_ESCROW_ASSOCIATED_TOKEN_PROGRAM,
  CREATE_ESCROW_SYSTEM_PROGRAM,
  CREATE_ESCROW_ACCOUNTS
};
typedef struct {
  u64 discriminator;
  Bytes32 task_hash;
  Pubkey attestor;
  Pubkey session_key;
  u64 amount;
  i64 expires_at;
  u32 ttl_seconds;
} CreateEscrowArgs;
_Static_assert(__builtin_offsetof(CreateEscrowArgs, ttl_seconds) == 120, "laid out as borsh");
#define CREATE_ESCROW_ARGS_SIZE 124

#define IX_CAPTURE 0x8ee9f8c3f1f5416eull
#define CAPTURE_SIGNERS 0x0
#define CAPTURE_WRITABLES 0xb
enum {
  CAPTURE_ESCROW,
  CAPTURE_VAULT,
  CAPTURE_MERCHANT,
  CAPTURE_MERCHANT_TOKEN_ACCOUNT,
  CAPTURE_MERCHANT_FALLBACK_ACCOUNT,
  CAPTURE_CONFIG,
  CAPTURE_INSTRUCTIONS_SYSVAR,
  CAPTURE_TOKEN_PROGRAM,
  CAPTURE_ACCOUNTS
};
typedef struct {
  u64 discriminator;
  u8 merchant_token_bump;
} CaptureArgs;
_Static_assert(__builtin_offsetof(CaptureArgs, merchant_token_bump) == 8, "laid out as borsh");
#define CAPTURE_ARGS_SIZE 9

#define IX_RELEASE_ESCROW 0xceb59114e981fd92ull
#define RELEASE_ESCROW_SIGNERS 0x0
#define RELEASE_ESCROW_WRITABLES 0x2f
enum {
  RELEASE_ESCROW_ESCROW,
  RELEASE_ESCROW_VAULT,
  RELEASE_ESCROW_MERCHANT,
  RELEASE_ESCROW_MERCHANT_TOKEN_ACCOUNT,
  RELEASE_ESCROW_MERCHANT_FALLBACK_ACCOUNT,
  RELEASE_ESCROW_CONFIG,
  RELEASE_ESCROW_REGISTRY,
  RELEASE_ESCROW_ATTESTOR_PROGRAM,
  RELEASE_ESCROW_INSTRUCTIONS_SYSVAR,
  RELEASE_ESCROW_TOKEN_PROGRAM,
  RELEASE_ESCROW_ACCOUNTS
};
typedef struct {
  u64 discriminator;
  u8 merchant_token_bump;
} ReleaseEscrowArgs;
_Static_assert(__builtin_offsetof(ReleaseEscrowArgs, merchant_token_bump) == 8, "laid out as borsh");
#define RELEASE_ESCROW_ARGS_SIZE 9

#define IX_CANCEL_ESCROW 0x15214826b336cb9cull
#define CANCEL_ESCROW_SIGNERS 0x4
#define CANCEL_ESCROW_WRITABLES 0x3
enum {
  CANCEL_ESCROW_ESCROW,
  CANCEL_ESCROW_CONFIG,
  CANCEL_ESCROW_MERCHANT_WALLET,
  CANCEL_ESCROW_ACCOUNTS
};
typedef struct {
  u64 discriminator;
} CancelEscrowArgs;
_Static_assert(__builtin_offsetof(CancelEscrowArgs, discriminator) == 0, "laid out as borsh");
#define CANCEL_ESCROW_ARGS_SIZE 8

#define IX_CLOSE_SESSION 0xd3f826de8cb27244ull
#define CLOSE_SESSION_SIGNERS 0x2
#define CLOSE_SESSION_WRITABLES 0x1
enum {
  CLOSE_SESSION_ESCROW,
  CLOSE_SESSION_AGENT_OWNER,
  CLOSE_SESSION_ACCOUNTS
};
typedef struct {
  u64 discriminator;
} CloseSessionArgs;
_Static_assert(__builtin_offsetof(CloseSessionArgs, discriminator) == 0, "laid out as borsh");
#define CLOSE_SESSION_ARGS_SIZE 8

#define IX_CLAIM_REFUND 0x3c61e4ffa11e100full
#define CLAIM_REFUND_SIGNERS 0x0
#define CLAIM_REFUND_WRITABLES 0x13
enum {
  CLAIM_REFUND_ESCROW,
  CLAIM_REFUND_VAULT,
  CLAIM_REFUND_AGENT_TOKEN_ACCOUNT,
  CLAIM_REFUND_AGENT_FALLBACK_ACCOUNT,
  CLAIM_REFUND_CONFIG,
  CLAIM_REFUND_TOKEN_PROGRAM,
  CLAIM_REFUND_ACCOUNTS
};
typedef struct {
  u64 discriminator;
  u8 agent_token_bump;
} ClaimRefundArgs;
_Static_assert(__builtin_offsetof(ClaimRefundArgs, agent_token_bump) == 8, "laid out as borsh");
#define CLAIM_REFUND_ARGS_SIZE 9

#define IX_RETURN_RENT 0x6fcefe6674e60907ull
#define RETURN_RENT_SIGNERS 0x0
#define RETURN_RENT_WRITABLES 0x3
enum {
  RETURN_RENT_ESCROW,
  RETURN_RENT_RENT_PAYER,
  RETURN_RENT_ACCOUNTS
};
typedef struct {
  u64 discriminator;
} ReturnRentArgs;
_Static_assert(__builtin_offsetof(ReturnRentArgs, discriminator) == 0, "laid out as borsh");
#define RETURN_RENT_ARGS_SIZE 8

#define IX_ARCHIVE_ESCROW 0x3491d78c9343ef98ull
#define ARCHIVE_ESCROW_SIGNERS 0x0
#define ARCHIVE_ESCROW_WRITABLES 0x3
enum {
  ARCHIVE_ESCROW_ESCROW,
  ARCHIVE_ESCROW_RENT_PAYER,
  ARCHIVE_ESCROW_ACCOUNTS
};
typedef struct {
  u64 discriminator;
  u8 last_bytes[416];
} ArchiveEscrowArgs;
_Static_assert(__builtin_offsetof(ArchiveEscrowArgs, last_bytes) == 8, "laid out as borsh");
#define ARCHIVE_ESCROW_ARGS_SIZE 424

#ifdef PROGRAM_CUSTODY
enum {
  ERROR_INVALID_INSTRUCTION = 6000,
  ERROR_MISSING_ACCOUNT = 6001,
  ERROR_MISSING_SIGNATURE = 6002,
  ERROR_ACCOUNT_NOT_WRITABLE = 6003,
  ERROR_WRONG_PROGRAM_DATA = 6004,
  ERROR_NOT_UPGRADE_AUTHORITY = 6005,
  ERROR_ALREADY_INITIALIZED = 6006,
  ERROR_WRONG_CONFIG = 6007,
  ERROR_WRONG_ATTESTOR_PROGRAM = 6008,
  ERROR_WRONG_SYSTEM_PROGRAM = 6009,
  ERROR_WRONG_TOKEN_PROGRAM = 6010,
  ERROR_WRONG_ASSOCIATED_TOKEN_PROGRAM = 6011,
  ERROR_WRONG_MINT = 6012,
  ERROR_WRONG_MERCHANT = 6013,
  ERROR_MERCHANT_SUSPENDED = 6014,
  ERROR_INVALID_AMOUNT = 6015,
  ERROR_INVALID_TTL = 6016,
  ERROR_WRONG_AGENT_TOKEN_ACCOUNT = 6017,
  ERROR_INSUFFICIENT_FUNDS = 6018,
  ERROR_WRONG_ESCROW = 6019,
  ERROR_ESCROW_EXISTS = 6020,
  ERROR_WRONG_VAULT = 6021,
  ERROR_WRONG_MERCHANT_TOKEN_ACCOUNT = 6022,
  ERROR_WRONG_RENT_PAYER = 6023,
  ERROR_NOT_PENDING = 6024,
  ERROR_EXPIRED = 6025,
  ERROR_NOT_EXPIRED = 6026,
  ERROR_ATTESTATION_MISSING = 6027,
  ERROR_PAYOUT_ACCOUNT_SHARED = 6028,
  ERROR_NOT_SESSION = 6029,
  ERROR_PAYOUT_ACCOUNT_UNUSABLE = 6030,
  ERROR_ATTESTOR_CHANGED = 6031,
  ERROR_NOT_MERCHANT_WALLET = 6032,
  ERROR_NOT_SETTLED = 6033,
  ERROR_NOT_ARCHIVABLE = 6034,
  ERROR_WRONG_LAST_BYTES = 6035,
  ERROR_ESCROW_ARCHIVED = 6036,
  ERROR_TOO_MANY_ACCOUNTS = 6037,
  ERROR_TOO_MANY_EVENTS = 6038,
  ERROR_ATTESTATION_MALFORMED = 6039,
  ERROR_WRONG_TERMS = 6040,
  ERROR_WRONG_ATTESTOR = 6041,
  ERROR_WRONG_MESSAGE = 6042,
  ERROR_ATTESTATION_STALE = 6043,
  ERROR_ATTESTATION_FROM_FUTURE = 6044,
  ERROR_ATTESTATION_OUTSIDE_ESCROW = 6045,
  ERROR_ESCROW_REVOKED = 6046,
  ERROR_WRONG_INSTRUCTIONS_SYSVAR = 6047,
  ERROR_NOT_AGENT_WALLET = 6048,
  ERROR_SESSION_CLOSING = 6049,
  ERROR_VOUCHER_MISSING = 6050,
  ERROR_WRONG_SESSION_KEY = 6051,
  ERROR_WRONG_VOUCHER = 6052,
  ERROR_DELIVERIES_FALL = 6053,
};
#define ACCOUNT_VERSION 3
#define MAX_TTL_SECONDS 604800
#define MAX_ATTESTATION_AGE_SECONDS 300
#define MAX_ATTESTATION_LEAD_SECONDS 30
static const Pubkey ADDRESS_ED25519_PROGRAM = {{0xbefb937cd6467d03ull, 0xff408d838f42f912ull, 0x648af42749747005ull, 0x000000804470cafcull}};
#define CLOSE_DELAY_SECONDS 900
#define ARCHIVE_DELAY_SECONDS 604800
static const Pubkey ADDRESS_UPGRADEABLE_LOADER = {{0xb0a1884e91f6a802ull, 0x2bae63f73e1510e2ull, 0xd224c1163db9c200ull, 0x00008004107a53c0ull}};
static const Pubkey ADDRESS_SYSTEM_PROGRAM = {{0x0000000000000000ull, 0x0000000000000000ull, 0x0000000000000000ull, 0x0000000000000000ull}};
static const Pubkey ADDRESS_TOKEN_PROGRAM = {{0x93a165d7e1f6dd06ull, 0xac79ebce46e1cbd9ull, 0x91375b5fed85b41cull, 0xa900ff7e85f58c3aull}};
static const Pubkey ADDRESS_ASSOCIATED_TOKEN_PROGRAM = {{0xf189244e8f25978cull, 0x830d8e1429103dbbull, 0x8410ffda99135a0bull, 0x59f8e9dbd87b8e04ull}};
static const Pubkey ADDRESS_INSTRUCTIONS_SYSVAR = {{0x66d17b1817d5a706ull, 0xc0c2fd5504d4da35ull, 0xa57556218fc624c1ull, 0x000000085fcbbadbull}};
/* Gives Escrow back the bytes of its creation. */
static inline void undo_escrow(Escrow *account) {
  account->state = 0;
  account->deliveries = 0;
  account->released = 0;
  account->settled_at = 0;
  account->proof_hash = (Bytes32){{0}};
  account->attested_at = 0;
  account->attestation_signature = (Bytes64){{0}};
  account->settled_seq = 0;
  account->settled_by = 0;
  account->closes_at = 0;
}
#endif
