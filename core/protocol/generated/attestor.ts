/** Generated from programs/attestor.idl.json by `bun run test:more build-programs`. */

/** The program's accounts: first eight bytes, length, and where each field begins, in bytes. */
export const ATTESTOR_ACCOUNTS = {
  Merchant: { discriminator: [71, 235, 30, 40, 231, 21, 32, 64], length: 208, at: { version: 8, bump: 9, status: 10, nameLen: 11, reserved: 12, merchant: 16, attestor: 48, previousAttestor: 80, attestorSince: 112, name: 120, registeredAt: 152, updatedAt: 160, reputation: 168, slashes: 172, deliveries: 176, partialDeliveries: 184, volume: 192, revokedSeq: 200 } },
  Registry: { discriminator: [47, 174, 110, 246, 184, 182, 252, 218], length: 144, at: { version: 8, bump: 9, reserved: 10, admin: 16, custodyProgram: 48, settlementMint: 80, proposedAdmin: 112 } },
} as const;

/** The program's instructions: first eight bytes, length without what says its own length at the end, arguments, and accounts in order. */
export const ATTESTOR_INSTRUCTIONS = {
  initialize_registry: {
    discriminator: [189, 181, 20, 17, 174, 57, 249, 59],
    length: 40,
    args: {
      settlementMint: { type: "address", at: 8, size: 32 },
    },
    accounts: {
      payer: { place: 0, role: "writableSigner" },
      upgrade_authority: { place: 1, role: "readonlySigner" },
      registry: { place: 2, role: "writable" },
      program_data: { place: 3, role: "readonly" },
      custody_program: { place: 4, role: "readonly" },
      system_program: { place: 5, role: "readonly", address: "11111111111111111111111111111111" },
    },
  },
  register_merchant: {
    discriminator: [238, 245, 77, 132, 161, 88, 216, 248],
    length: 44,
    args: {
      attestor: { type: "address", at: 8, size: 32 },
      name: { type: "string", at: 40, size: 4 },
    },
    accounts: {
      payer: { place: 0, role: "writableSigner" },
      merchant_wallet: { place: 1, role: "readonlySigner" },
      merchant: { place: 2, role: "writable" },
      registry: { place: 3, role: "readonly" },
      system_program: { place: 4, role: "readonly", address: "11111111111111111111111111111111" },
    },
  },
  rotate_attestor: {
    discriminator: [210, 240, 181, 158, 51, 168, 80, 134],
    length: 41,
    args: {
      attestor: { type: "address", at: 8, size: 32 },
      revoke: { type: "bool", at: 40, size: 1 },
    },
    accounts: {
      merchant_wallet: { place: 0, role: "readonlySigner" },
      merchant: { place: 1, role: "writable" },
      registry: { place: 2, role: "readonly" },
      custody_config: { place: 3, role: "readonly" },
    },
  },
  set_merchant_status: {
    discriminator: [76, 172, 99, 200, 233, 226, 212, 102],
    length: 9,
    args: {
      status: { type: "u8", at: 8, size: 1 },
    },
    accounts: {
      admin: { place: 0, role: "readonlySigner" },
      registry: { place: 1, role: "readonly" },
      merchant: { place: 2, role: "writable" },
    },
  },
  slash_merchant: {
    discriminator: [4, 142, 156, 239, 42, 53, 12, 181],
    length: 12,
    args: {
      points: { type: "u32", at: 8, size: 4 },
    },
    accounts: {
      admin: { place: 0, role: "readonlySigner" },
      registry: { place: 1, role: "readonly" },
      merchant: { place: 2, role: "writable" },
    },
  },
  propose_admin: {
    discriminator: [121, 214, 199, 212, 87, 39, 117, 234],
    length: 40,
    args: {
      admin: { type: "address", at: 8, size: 32 },
    },
    accounts: {
      admin: { place: 0, role: "readonlySigner" },
      registry: { place: 1, role: "writable" },
    },
  },
  accept_admin: {
    discriminator: [112, 42, 45, 90, 116, 181, 13, 170],
    length: 8,
    args: {
    },
    accounts: {
      proposed_admin: { place: 0, role: "readonlySigner" },
      registry: { place: 1, role: "writable" },
    },
  },
  record_delivery: {
    discriminator: [72, 245, 251, 211, 129, 177, 93, 214],
    length: 16,
    args: {
      total: { type: "u64", at: 8, size: 8 },
    },
    accounts: {
      escrow: { place: 0, role: "readonlySigner" },
      merchant: { place: 1, role: "writable" },
      registry: { place: 2, role: "readonly" },
    },
  },
} as const;

/** The program's own errors. */
export const ATTESTOR_ERRORS = [
  { code: 6100, program: "attestor", name: "InvalidInstruction", message: "The instruction is unknown or its data has the wrong length" },
  { code: 6101, program: "attestor", name: "MissingAccount", message: "Too few accounts" },
  { code: 6102, program: "attestor", name: "MissingSignature", message: "An account that must sign did not" },
  { code: 6103, program: "attestor", name: "AccountNotWritable", message: "An account that is written was passed read-only" },
  { code: 6104, program: "attestor", name: "WrongProgramData", message: "The program_data account is not this program's ProgramData" },
  { code: 6105, program: "attestor", name: "NotUpgradeAuthority", message: "The signer is not the program's upgrade authority" },
  { code: 6106, program: "attestor", name: "AlreadyInitialized", message: "The attestor program was initialised before" },
  { code: 6107, program: "attestor", name: "WrongRegistry", message: "The registry account is not this program's registry" },
  { code: 6108, program: "attestor", name: "WrongCustodyProgram", message: "The custody program is not a program" },
  { code: 6109, program: "attestor", name: "WrongSystemProgram", message: "The system_program account is not the System program" },
  { code: 6110, program: "attestor", name: "NotAdmin", message: "The signer is not the registry's admin" },
  { code: 6111, program: "attestor", name: "WrongMerchant", message: "The merchant account is not the registered account of the wallet" },
  { code: 6112, program: "attestor", name: "MerchantExists", message: "The wallet is registered already" },
  { code: 6113, program: "attestor", name: "InvalidName", message: "The name is not 1 to 32 bytes of UTF-8 without control characters, text direction controls included" },
  { code: 6114, program: "attestor", name: "InvalidAttestor", message: "The attestor key is zero or the present one" },
  { code: 6115, program: "attestor", name: "InvalidStatus", message: "The status is neither Active nor Suspended" },
  { code: 6116, program: "attestor", name: "WrongEscrow", message: "The escrow is not an escrow of the recorded custody program, or not at its address" },
  { code: 6117, program: "attestor", name: "EscrowNotPending", message: "The escrow is settled already" },
  { code: 6126, program: "attestor", name: "TooManyAccounts", message: "More than 32 accounts" },
  { code: 6127, program: "attestor", name: "WrongConfig", message: "The custody_config account is not the configuration of the recorded custody program" },
  { code: 6129, program: "attestor", name: "NotProposedAdmin", message: "The signer is not the proposed admin" },
] as const;

/** The numbers by which the program judges. */
export const ATTESTOR_CONSTANTS = {
  ACCOUNT_VERSION: 3,
  MAX_NAME_BYTES: 32,
} as const;
