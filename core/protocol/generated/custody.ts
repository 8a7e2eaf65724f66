/** Generated from programs/custody.idl.json by `bun run test:more build-programs`. */

/** The program's accounts: first eight bytes, length, and where each field begins, in bytes. */
export const CUSTODY_ACCOUNTS = {
  CustodyConfig: { discriminator: [241, 165, 157, 31, 210, 36, 248, 113], length: 1368, at: { version: 8, bump: 9, reserved: 10, attestorProgram: 16, domain: 48, count: 80, frontier: 88 } },
  Escrow: { discriminator: [31, 213, 123, 187, 186, 22, 218, 155], length: 368, at: { version: 8, bump: 9, state: 10, vaultBump: 11, reserved: 12, agentOwner: 16, merchant: 48, mint: 80, rentPayer: 112, taskHash: 144, amount: 176, released: 184, createdAt: 192, expiresAt: 200, settledAt: 208, proofHash: 216, attestor: 248, attestedAt: 280, attestationSignature: 288, createdSeq: 352, settledSeq: 360 } },
  ArchivedEscrow: { discriminator: [110, 48, 54, 177, 212, 188, 89, 175], length: 96, at: { createdSeq: 8, settledSeq: 16, state: 24, version: 25, reserved: 26, pendingHash: 32, lastHash: 64 } },
} as const;

/** The program's instructions: first eight bytes, length without a text at the end, arguments, and accounts in order. */
export const CUSTODY_INSTRUCTIONS = {
  initialize_custody: {
    discriminator: [229, 218, 228, 120, 208, 239, 223, 234],
    length: 40,
    args: {
      genesisHash: { type: "hash", at: 8, size: 32 },
    },
    accounts: {
      payer: { place: 0, role: "writableSigner" },
      upgrade_authority: { place: 1, role: "readonlySigner" },
      config: { place: 2, role: "writable" },
      program_data: { place: 3, role: "readonly" },
      attestor_program: { place: 4, role: "readonly" },
      system_program: { place: 5, role: "readonly", address: "11111111111111111111111111111111" },
    },
  },
  create_escrow: {
    discriminator: [253, 215, 165, 116, 36, 108, 68, 80],
    length: 84,
    args: {
      taskHash: { type: "hash", at: 8, size: 32 },
      attestor: { type: "address", at: 40, size: 32 },
      amount: { type: "u64", at: 72, size: 8 },
      ttlSeconds: { type: "u32", at: 80, size: 4 },
    },
    accounts: {
      payer: { place: 0, role: "writableSigner" },
      agent_owner: { place: 1, role: "readonlySigner" },
      merchant_wallet: { place: 2, role: "readonly" },
      merchant: { place: 3, role: "readonly" },
      mint: { place: 4, role: "readonly" },
      escrow: { place: 5, role: "writable" },
      vault: { place: 6, role: "writable" },
      agent_token_account: { place: 7, role: "writable" },
      config: { place: 8, role: "writable" },
      token_program: { place: 9, role: "readonly", address: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" },
      associated_token_program: { place: 10, role: "readonly", address: "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL" },
      system_program: { place: 11, role: "readonly", address: "11111111111111111111111111111111" },
    },
  },
  release_escrow: {
    discriminator: [146, 253, 129, 233, 20, 145, 181, 206],
    length: 49,
    args: {
      proofHash: { type: "hash", at: 8, size: 32 },
      timestamp: { type: "i64", at: 40, size: 8 },
      merchantTokenBump: { type: "u8", at: 48, size: 1 },
    },
    accounts: {
      escrow: { place: 0, role: "writable" },
      vault: { place: 1, role: "writable" },
      merchant: { place: 2, role: "writable" },
      merchant_token_account: { place: 3, role: "writable" },
      merchant_fallback_account: { place: 4, role: "writable", optional: true },
      rent_payer: { place: 5, role: "writable" },
      config: { place: 6, role: "writable" },
      registry: { place: 7, role: "readonly" },
      attestor_program: { place: 8, role: "readonly" },
      instructions_sysvar: { place: 9, role: "readonly", address: "Sysvar1nstructions1111111111111111111111111" },
      token_program: { place: 10, role: "readonly", address: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" },
    },
  },
  release_partial: {
    discriminator: [86, 57, 247, 124, 243, 51, 221, 170],
    length: 58,
    args: {
      proofHash: { type: "hash", at: 8, size: 32 },
      timestamp: { type: "i64", at: 40, size: 8 },
      amount: { type: "u64", at: 48, size: 8 },
      merchantTokenBump: { type: "u8", at: 56, size: 1 },
      agentTokenBump: { type: "u8", at: 57, size: 1 },
    },
    accounts: {
      escrow: { place: 0, role: "writable" },
      vault: { place: 1, role: "writable" },
      merchant: { place: 2, role: "writable" },
      merchant_token_account: { place: 3, role: "writable" },
      merchant_fallback_account: { place: 4, role: "writable", optional: true },
      agent_token_account: { place: 5, role: "writable" },
      agent_fallback_account: { place: 6, role: "writable", optional: true },
      rent_payer: { place: 7, role: "writable" },
      config: { place: 8, role: "writable" },
      registry: { place: 9, role: "readonly" },
      attestor_program: { place: 10, role: "readonly" },
      instructions_sysvar: { place: 11, role: "readonly", address: "Sysvar1nstructions1111111111111111111111111" },
      token_program: { place: 12, role: "readonly", address: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" },
    },
  },
  claim_refund: {
    discriminator: [15, 16, 30, 161, 255, 228, 97, 60],
    length: 9,
    args: {
      agentTokenBump: { type: "u8", at: 8, size: 1 },
    },
    accounts: {
      escrow: { place: 0, role: "writable" },
      vault: { place: 1, role: "writable" },
      agent_token_account: { place: 2, role: "writable" },
      agent_fallback_account: { place: 3, role: "writable", optional: true },
      rent_payer: { place: 4, role: "writable" },
      config: { place: 5, role: "writable" },
      token_program: { place: 6, role: "readonly", address: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" },
    },
  },
  cancel_escrow: {
    discriminator: [156, 203, 54, 179, 38, 72, 33, 21],
    length: 9,
    args: {
      agentTokenBump: { type: "u8", at: 8, size: 1 },
    },
    accounts: {
      escrow: { place: 0, role: "writable" },
      vault: { place: 1, role: "writable" },
      agent_token_account: { place: 2, role: "writable" },
      agent_fallback_account: { place: 3, role: "writable", optional: true },
      rent_payer: { place: 4, role: "writable" },
      config: { place: 5, role: "writable" },
      token_program: { place: 6, role: "readonly", address: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" },
      merchant_wallet: { place: 7, role: "readonlySigner" },
    },
  },
  archive_escrow: {
    discriminator: [152, 239, 67, 147, 140, 215, 145, 52],
    length: 376,
    args: {
      lastBytes: { type: "bytes", at: 8, size: 368 },
    },
    accounts: {
      escrow: { place: 0, role: "writable" },
      rent_payer: { place: 1, role: "writable" },
    },
  },
} as const;

/** The program's own errors. */
export const CUSTODY_ERRORS = [
  { code: 6000, program: "custody", name: "InvalidInstruction", message: "The instruction is unknown or its data has the wrong length" },
  { code: 6001, program: "custody", name: "MissingAccount", message: "Too few accounts" },
  { code: 6002, program: "custody", name: "MissingSignature", message: "An account that must sign did not" },
  { code: 6003, program: "custody", name: "AccountNotWritable", message: "An account that is written was passed read-only" },
  { code: 6004, program: "custody", name: "WrongProgramData", message: "The program_data account is not this program's ProgramData" },
  { code: 6005, program: "custody", name: "NotUpgradeAuthority", message: "The signer is not the program's upgrade authority" },
  { code: 6006, program: "custody", name: "AlreadyInitialized", message: "The custody program was initialised before" },
  { code: 6007, program: "custody", name: "WrongConfig", message: "The config account is not this program's configuration" },
  { code: 6008, program: "custody", name: "WrongAttestorProgram", message: "The attestor program is not the recorded one, or not a program" },
  { code: 6009, program: "custody", name: "WrongSystemProgram", message: "The system_program account is not the System program" },
  { code: 6010, program: "custody", name: "WrongTokenProgram", message: "The token_program account is not the SPL Token program" },
  { code: 6011, program: "custody", name: "WrongAssociatedTokenProgram", message: "The associated_token_program account is not the Associated Token program" },
  { code: 6012, program: "custody", name: "WrongMint", message: "The mint is not an initialised SPL Token mint" },
  { code: 6013, program: "custody", name: "WrongMerchant", message: "The merchant account is not the registered account of the merchant's wallet" },
  { code: 6014, program: "custody", name: "MerchantSuspended", message: "The merchant is suspended and takes no new escrows" },
  { code: 6015, program: "custody", name: "InvalidAmount", message: "The amount is zero, or a partial release is not below the escrowed amount" },
  { code: 6016, program: "custody", name: "InvalidTtl", message: "The time to live is outside 1 to 604800 seconds" },
  { code: 6017, program: "custody", name: "WrongAgentTokenAccount", message: "The agent's token account, or its fallback, has another owner, mint or address" },
  { code: 6018, program: "custody", name: "InsufficientFunds", message: "The agent's token account holds less than the amount" },
  { code: 6019, program: "custody", name: "WrongEscrow", message: "The escrow account is not an escrow of this program, or not at its address" },
  { code: 6020, program: "custody", name: "EscrowExists", message: "The agent already made an escrow for this task hash" },
  { code: 6021, program: "custody", name: "WrongVault", message: "The vault is not the escrow's associated token account" },
  { code: 6022, program: "custody", name: "WrongMerchantTokenAccount", message: "The merchant's token account, or its fallback, has another owner, mint or address" },
  { code: 6023, program: "custody", name: "WrongRentPayer", message: "The rent payer is not the one that the escrow records" },
  { code: 6024, program: "custody", name: "NotPending", message: "The escrow is settled already" },
  { code: 6025, program: "custody", name: "Expired", message: "The escrow has expired and can only be refunded" },
  { code: 6026, program: "custody", name: "NotExpired", message: "The escrow has not expired yet" },
  { code: 6027, program: "custody", name: "AttestationNotReturned", message: "The attestor program did not return the signature it verified" },
  { code: 6028, program: "custody", name: "PayoutAccountShared", message: "The fallback account has a delegate or a close authority" },
  { code: 6029, program: "custody", name: "PayoutAccountMissing", message: "The payee's associated token account does not exist" },
  { code: 6030, program: "custody", name: "PayoutAccountUnusable", message: "The payee's associated token account is frozen or has another owner, and no fallback account can be paid" },
  { code: 6031, program: "custody", name: "AttestorChanged", message: "The merchant's present attestor is not the one that was asked for" },
  { code: 6032, program: "custody", name: "NotMerchantWallet", message: "The signer is not the wallet of the escrow's merchant" },
  { code: 6033, program: "custody", name: "NotSettled", message: "The escrow is Pending and cannot be archived" },
  { code: 6034, program: "custody", name: "NotArchivable", message: "The escrow was settled less than seven days ago" },
  { code: 6035, program: "custody", name: "WrongLastBytes", message: "The bytes to archive are not those of the escrow account" },
  { code: 6036, program: "custody", name: "EscrowArchived", message: "The escrow is settled and archived" },
  { code: 6037, program: "custody", name: "TooManyAccounts", message: "More than 32 accounts" },
  { code: 6038, program: "custody", name: "TooManyEvents", message: "The log is full: no event can be numbered any more" },
] as const;

/** The numbers by which the program judges. */
export const CUSTODY_CONSTANTS = {
  ACCOUNT_VERSION: 3,
  MAX_TTL_SECONDS: 604800,
  ARCHIVE_DELAY_SECONDS: 604800,
} as const;
