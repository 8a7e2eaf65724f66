/** Generated from programs/custody.idl.json by `bun run test:more build-programs`. */

/** The program's accounts: first eight bytes, length, and where each field begins, in bytes. */
export const CUSTODY_ACCOUNTS = {
  CustodyConfig: { discriminator: [241, 165, 157, 31, 210, 36, 248, 113], length: 1368, at: { version: 8, bump: 9, reserved: 10, attestorProgram: 16, domain: 48, count: 80, frontier: 88 } },
  Escrow: { discriminator: [31, 213, 123, 187, 186, 22, 218, 155], length: 416, at: { version: 8, bump: 9, state: 10, vaultBump: 11, deliveries: 12, agentOwner: 16, merchant: 48, mint: 80, rentPayer: 112, taskHash: 144, amount: 176, released: 184, createdAt: 192, expiresAt: 200, settledAt: 208, proofHash: 216, attestor: 248, attestedAt: 280, attestationSignature: 288, createdSeq: 352, settledSeq: 360, sessionKey: 368, settledBy: 400, reserved: 401, closesAt: 408 } },
  ArchivedEscrow: { discriminator: [110, 48, 54, 177, 212, 188, 89, 175], length: 96, at: { createdSeq: 8, settledSeq: 16, state: 24, version: 25, reserved: 26, pendingHash: 32, lastHash: 64 } },
} as const;

/** What captures, close_session and the settlement write in Escrow, in bytes. With zeros there they are the bytes of its creation. */
export const ESCROW_CHANGED_FIELDS = [
  { at: 10, length: 1 },
  { at: 12, length: 4 },
  { at: 184, length: 8 },
  { at: 208, length: 8 },
  { at: 216, length: 32 },
  { at: 280, length: 8 },
  { at: 288, length: 64 },
  { at: 360, length: 8 },
  { at: 400, length: 1 },
  { at: 408, length: 8 },
] as const;

/** The program's instructions: first eight bytes, length without what says its own length at the end, arguments, and accounts in order. */
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
    length: 124,
    args: {
      taskHash: { type: "hash", at: 8, size: 32 },
      attestor: { type: "address", at: 40, size: 32 },
      sessionKey: { type: "address", at: 72, size: 32 },
      amount: { type: "u64", at: 104, size: 8 },
      expiresAt: { type: "i64", at: 112, size: 8 },
      ttlSeconds: { type: "u32", at: 120, size: 4 },
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
  capture: {
    discriminator: [110, 65, 245, 241, 195, 248, 233, 142],
    length: 9,
    args: {
      merchantTokenBump: { type: "u8", at: 8, size: 1 },
    },
    accounts: {
      escrow: { place: 0, role: "writable" },
      vault: { place: 1, role: "writable" },
      merchant: { place: 2, role: "readonly" },
      merchant_token_account: { place: 3, role: "writable" },
      merchant_fallback_account: { place: 4, role: "writable", optional: true },
      config: { place: 5, role: "readonly" },
      instructions_sysvar: { place: 6, role: "readonly", address: "Sysvar1nstructions1111111111111111111111111" },
      token_program: { place: 7, role: "readonly", address: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" },
    },
  },
  release_escrow: {
    discriminator: [146, 253, 129, 233, 20, 145, 181, 206],
    length: 9,
    args: {
      merchantTokenBump: { type: "u8", at: 8, size: 1 },
    },
    accounts: {
      escrow: { place: 0, role: "writable" },
      vault: { place: 1, role: "writable" },
      merchant: { place: 2, role: "writable" },
      merchant_token_account: { place: 3, role: "writable" },
      merchant_fallback_account: { place: 4, role: "writable", optional: true },
      config: { place: 5, role: "writable" },
      registry: { place: 6, role: "readonly" },
      attestor_program: { place: 7, role: "readonly" },
      instructions_sysvar: { place: 8, role: "readonly", address: "Sysvar1nstructions1111111111111111111111111" },
      token_program: { place: 9, role: "readonly", address: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" },
    },
  },
  cancel_escrow: {
    discriminator: [156, 203, 54, 179, 38, 72, 33, 21],
    length: 8,
    args: {
    },
    accounts: {
      escrow: { place: 0, role: "writable" },
      config: { place: 1, role: "writable" },
      merchant_wallet: { place: 2, role: "readonlySigner" },
    },
  },
  close_session: {
    discriminator: [68, 114, 178, 140, 222, 38, 248, 211],
    length: 8,
    args: {
    },
    accounts: {
      escrow: { place: 0, role: "writable" },
      agent_owner: { place: 1, role: "readonlySigner" },
    },
  },
  claim_refund: {
    discriminator: [15, 16, 30, 161, 255, 228, 97, 60],
    length: 13,
    args: {
      agentTokenBump: { type: "u8", at: 8, size: 1 },
      lastBytes: { type: "tail", at: 9, size: 4 },
    },
    accounts: {
      escrow: { place: 0, role: "writable" },
      vault: { place: 1, role: "writable" },
      agent_token_account: { place: 2, role: "writable", optional: true },
      agent_fallback_account: { place: 3, role: "writable", optional: true },
      config: { place: 4, role: "writable" },
      token_program: { place: 5, role: "readonly", address: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" },
    },
  },
  return_rent: {
    discriminator: [7, 9, 230, 116, 102, 254, 206, 111],
    length: 12,
    args: {
      lastBytes: { type: "tail", at: 8, size: 4 },
    },
    accounts: {
      escrow: { place: 0, role: "writable" },
      rent_payer: { place: 1, role: "writable" },
    },
  },
  archive_escrow: {
    discriminator: [152, 239, 67, 147, 140, 215, 145, 52],
    length: 424,
    args: {
      lastBytes: { type: "bytes", at: 8, size: 416 },
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
  { code: 6015, program: "custody", name: "InvalidAmount", message: "The amount is zero, or the attested total is above the escrowed amount, below what was released, or nothing new to capture" },
  { code: 6016, program: "custody", name: "InvalidTtl", message: "The time to live is outside 1 to 604800 seconds, or both or neither of ttl_seconds and expires_at are given" },
  { code: 6017, program: "custody", name: "WrongAgentTokenAccount", message: "The agent's token account, or its fallback, has another owner, mint or address" },
  { code: 6018, program: "custody", name: "InsufficientFunds", message: "The agent's token account holds less than the amount" },
  { code: 6019, program: "custody", name: "WrongEscrow", message: "The escrow account is not an escrow of this program, or not at its address" },
  { code: 6020, program: "custody", name: "EscrowExists", message: "The agent already made an escrow for this task hash" },
  { code: 6021, program: "custody", name: "WrongVault", message: "The vault is not the escrow's associated token account, or holds less than a Pending escrow's rest" },
  { code: 6022, program: "custody", name: "WrongMerchantTokenAccount", message: "The merchant's token account, or its fallback, has another owner, mint or address" },
  { code: 6023, program: "custody", name: "WrongRentPayer", message: "The rent payer is not the one that the escrow records" },
  { code: 6024, program: "custody", name: "NotPending", message: "The escrow is settled already" },
  { code: 6025, program: "custody", name: "Expired", message: "The escrow has ended and can only be refunded" },
  { code: 6026, program: "custody", name: "NotExpired", message: "The escrow has not ended yet" },
  { code: 6027, program: "custody", name: "AttestationMissing", message: "No Ed25519 instruction comes earlier in the transaction" },
  { code: 6028, program: "custody", name: "PayoutAccountShared", message: "The fallback account has a delegate or a close authority" },
  { code: 6029, program: "custody", name: "NotSession", message: "The escrow is a single payment, not a session" },
  { code: 6030, program: "custody", name: "PayoutAccountUnusable", message: "The payee's associated token account is absent, frozen or has another owner, and no fallback account can be paid" },
  { code: 6031, program: "custody", name: "AttestorChanged", message: "The merchant's present attestor is not the one that was asked for" },
  { code: 6032, program: "custody", name: "NotMerchantWallet", message: "The signer is not the wallet of the escrow's merchant" },
  { code: 6033, program: "custody", name: "NotSettled", message: "The escrow is Pending" },
  { code: 6034, program: "custody", name: "NotArchivable", message: "The escrow was settled less than seven days ago" },
  { code: 6035, program: "custody", name: "WrongLastBytes", message: "The bytes are not those of the escrow account, or of its tombstone's last_hash" },
  { code: 6036, program: "custody", name: "EscrowArchived", message: "The escrow is settled and archived" },
  { code: 6037, program: "custody", name: "TooManyAccounts", message: "More than 32 accounts" },
  { code: 6038, program: "custody", name: "TooManyEvents", message: "The log is full: no event can be numbered any more" },
  { code: 6039, program: "custody", name: "AttestationMalformed", message: "No Ed25519 instruction comes earlier that has the form of this escrow: 240 bytes with one signature, for a session 470 bytes with two, all of it in its own data" },
  { code: 6040, program: "custody", name: "WrongTerms", message: "No attestation or voucher that comes earlier names this ledger and the terms of this escrow" },
  { code: 6041, program: "custody", name: "WrongAttestor", message: "The signature is not of the attestor that the escrow records" },
  { code: 6042, program: "custody", name: "WrongMessage", message: "The attestation is final where it must not be, or not final where it must, or counts other than one delivery for a single payment" },
  { code: 6043, program: "custody", name: "AttestationStale", message: "The attestation's timestamp is more than 300 seconds old" },
  { code: 6044, program: "custody", name: "AttestationFromFuture", message: "The attestation's timestamp is more than 30 seconds ahead of the ledger's clock" },
  { code: 6045, program: "custody", name: "AttestationOutsideEscrow", message: "The attestation's timestamp is before the escrow's creation or not before its end" },
  { code: 6046, program: "custody", name: "EscrowRevoked", message: "The merchant revoked its attestor after this escrow was made" },
  { code: 6047, program: "custody", name: "WrongInstructionsSysvar", message: "The instructions_sysvar account is not the Instructions sysvar" },
  { code: 6048, program: "custody", name: "NotAgentWallet", message: "The signer is not the wallet of the escrow's agent" },
  { code: 6049, program: "custody", name: "SessionClosing", message: "The session was closed before" },
  { code: 6050, program: "custody", name: "VoucherMissing", message: "The attestation of a session comes without a voucher" },
  { code: 6051, program: "custody", name: "WrongSessionKey", message: "The voucher is not signed by the session key that the escrow records" },
  { code: 6052, program: "custody", name: "WrongVoucher", message: "The voucher allows less than is attested, or at a release is not the closing one for exactly that" },
  { code: 6053, program: "custody", name: "DeliveriesFall", message: "The attestation counts fewer deliveries than one before" },
] as const;

/** The numbers by which the program judges. */
export const CUSTODY_CONSTANTS = {
  ACCOUNT_VERSION: 3,
  MAX_TTL_SECONDS: 604800,
  MAX_ATTESTATION_AGE_SECONDS: 300n,
  MAX_ATTESTATION_LEAD_SECONDS: 30n,
  CLOSE_DELAY_SECONDS: 900n,
  ARCHIVE_DELAY_SECONDS: 604800,
} as const;
