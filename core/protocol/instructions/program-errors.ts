/** A custom error of one of the two programs. */
export type ProgramError = {
  readonly code: number;
  readonly program: "custody" | "attestor";
  readonly name: string;
  /** One short sentence, without full stop. */
  readonly message: string;
};

type Row = readonly [name: string, message: string];

/** Codes 6000 and up, in order, as in `programs/custody.idl.json`. */
const CUSTODY: ReadonlyArray<Row> = [
  ["InvalidInstruction", "The instruction is unknown or its data has the wrong length"],
  ["MissingAccount", "Too few accounts, or more than the program takes"],
  ["MissingSignature", "An account that must sign did not"],
  ["AccountNotWritable", "An account that is written was passed read-only"],
  ["WrongProgramData", "The program_data account is not this program's ProgramData"],
  ["NotUpgradeAuthority", "The signer is not the program's upgrade authority"],
  ["AlreadyInitialized", "The custody program was initialised before"],
  ["WrongConfig", "The config account is not this program's configuration"],
  ["WrongAttestorProgram", "The attestor program is not the recorded one, or not a program"],
  ["WrongSystemProgram", "The system_program account is not the System program"],
  ["WrongTokenProgram", "The token_program account is not the SPL Token program"],
  [
    "WrongAssociatedTokenProgram",
    "The associated_token_program account is not the Associated Token program",
  ],
  ["WrongMint", "The mint is not an initialised SPL Token mint"],
  ["WrongMerchant", "The merchant account is not the registered account of the merchant's wallet"],
  ["MerchantSuspended", "The merchant is suspended and takes no new escrows"],
  ["InvalidAmount", "The amount is zero, or a partial release is not below the escrowed amount"],
  ["InvalidTtl", "The time to live is outside 1 to 604800 seconds"],
  ["WrongAgentTokenAccount", "The agent's token account has another owner or mint"],
  ["InsufficientFunds", "The agent's token account holds less than the amount"],
  ["WrongEscrow", "The escrow account is not an escrow of this program, or not at its address"],
  ["EscrowExists", "The agent already made an escrow for this task hash"],
  ["WrongVault", "The vault is not the escrow's associated token account"],
  ["WrongMerchantTokenAccount", "The merchant's token account has another owner or mint"],
  ["WrongRentPayer", "The rent payer is not the one that the escrow records"],
  ["NotPending", "The escrow is settled already"],
  ["Expired", "The escrow has expired and can only be refunded"],
  ["NotExpired", "The escrow has not expired yet"],
  ["AttestationNotReturned", "The attestor program did not return the signature it verified"],
  [
    "PayoutAccountShared",
    "The payout account is not the payee's associated one and has a delegate or a close authority",
  ],
];

/** Codes 6100 and up, in order, as in `programs/attestor.idl.json`. */
const ATTESTOR: ReadonlyArray<Row> = [
  ["InvalidInstruction", "The instruction is unknown or its data has the wrong length"],
  ["MissingAccount", "Too few accounts, or more than the program takes"],
  ["MissingSignature", "An account that must sign did not"],
  ["AccountNotWritable", "An account that is written was passed read-only"],
  ["WrongProgramData", "The program_data account is not this program's ProgramData"],
  ["NotUpgradeAuthority", "The signer is not the program's upgrade authority"],
  ["AlreadyInitialized", "The attestor program was initialised before"],
  ["WrongRegistry", "The registry account is not this program's registry"],
  ["WrongCustodyProgram", "The custody program is not a program"],
  ["WrongSystemProgram", "The system_program account is not the System program"],
  ["NotAdmin", "The signer is not the registry's admin"],
  ["WrongMerchant", "The merchant account is not the registered account of the wallet"],
  ["MerchantExists", "The wallet is registered already"],
  ["InvalidName", "The name is not 1 to 32 bytes of UTF-8 without U+0000"],
  ["InvalidAttestor", "The attestor key is zero or the present one"],
  ["InvalidStatus", "The status is neither Active nor Suspended"],
  [
    "WrongEscrow",
    "The escrow is not an escrow of the recorded custody program, or not at its address",
  ],
  ["EscrowNotPending", "The escrow is settled already"],
  ["WrongInstructionsSysvar", "The instructions_sysvar account is not the Instructions sysvar"],
  ["AttestationMissing", "No Ed25519 instruction comes earlier in the transaction"],
  [
    "AttestationMalformed",
    "The Ed25519 instruction is not one signature with key, signature and message in its own data",
  ],
  ["WrongAttestor", "The signature is not of the merchant's current attestor"],
  [
    "WrongMessage",
    "The signed message is not the one for this escrow, proof, timestamp and amount",
  ],
  ["AttestationStale", "The attestation's timestamp is more than 300 seconds old"],
  [
    "AttestationFromFuture",
    "The attestation's timestamp is more than 30 seconds ahead of the ledger's clock",
  ],
  [
    "AttestationOutsideEscrow",
    "The attestation's timestamp is before the escrow's creation or not before its expiry",
  ],
];

const rowsOf = (program: ProgramError["program"], base: number, rows: ReadonlyArray<Row>) =>
  rows.map(([name, message], i): ProgramError => ({ code: base + i, program, name, message }));

/** Every custom error of both programs; an error that crosses a CPI keeps its code, so the ranges do not overlap. */
export const PROGRAM_ERRORS: ReadonlyArray<ProgramError> = [
  ...rowsOf("custody", 6000, CUSTODY),
  ...rowsOf("attestor", 6100, ATTESTOR),
];

const byCode = new Map(PROGRAM_ERRORS.map((error) => [error.code, error]));

/** What a custom error code of a failed transaction means, or undefined when neither program defines it. */
export const programError = (code: number): ProgramError | undefined => byCode.get(code);
