import { address } from "../../domain/address.ts";

/* Native and SPL program ids, and sysvars, by their published addresses (Agave `sdk-ids`, SPL). */

/** The system program, which makes accounts and moves lamports. */
export const SYSTEM_PROGRAM = address("11111111111111111111111111111111");
/** The SPL token program. */
export const TOKEN_PROGRAM = address("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
/** The program that makes a wallet's associated token accounts. */
export const ASSOCIATED_TOKEN_PROGRAM = address("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
/** The mint of wrapped SOL, whose token accounts hold their amount in lamports as well. */
export const NATIVE_MINT = address("So11111111111111111111111111111111111111112");
/** The program whose instructions set compute limits and priority fees. */
export const COMPUTE_BUDGET_PROGRAM = address("ComputeBudget111111111111111111111111111111");
/** The precompile that verifies Ed25519 signatures. */
export const ED25519_PROGRAM = address("Ed25519SigVerify111111111111111111111111111");
/** The SPL memo program. */
export const MEMO_PROGRAM = address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
/** Wallets inject assertions of this program into what they sign. */
export const LIGHTHOUSE_PROGRAM = address("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95");
/** The program that owns address lookup tables. */
export const ADDRESS_LOOKUP_TABLE_PROGRAM = address("AddressLookupTab1e1111111111111111111111111");
/** The loader that owns upgradeable programs. */
export const UPGRADEABLE_LOADER = address("BPFLoaderUpgradeab1e11111111111111111111111");
/** The sysvar of the transaction's instructions. */
export const INSTRUCTIONS_SYSVAR = address("Sysvar1nstructions1111111111111111111111111");
/** The sysvar of the ledger's slot and time. */
export const CLOCK_SYSVAR = address("SysvarC1ock11111111111111111111111111111111");
/** The sysvar of the ledger's rent. */
export const RENT_SYSVAR = address("SysvarRent111111111111111111111111111111111");
