import { address } from "../../domain/address.ts";

/** Native and SPL program ids, and sysvars, by their published addresses (Agave `sdk-ids`, SPL). */
export const SYSTEM_PROGRAM = address("11111111111111111111111111111111");
export const TOKEN_PROGRAM = address("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
export const ASSOCIATED_TOKEN_PROGRAM = address("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
/** The mint of wrapped SOL, whose token accounts hold their amount in lamports as well. */
export const NATIVE_MINT = address("So11111111111111111111111111111111111111112");
export const COMPUTE_BUDGET_PROGRAM = address("ComputeBudget111111111111111111111111111111");
export const ED25519_PROGRAM = address("Ed25519SigVerify111111111111111111111111111");
export const MEMO_PROGRAM = address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
/** Wallets inject assertions of this program into what they sign. */
export const LIGHTHOUSE_PROGRAM = address("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95");
export const ADDRESS_LOOKUP_TABLE_PROGRAM = address("AddressLookupTab1e1111111111111111111111111");
export const UPGRADEABLE_LOADER = address("BPFLoaderUpgradeab1e11111111111111111111111");
export const INSTRUCTIONS_SYSVAR = address("Sysvar1nstructions1111111111111111111111111");
export const CLOCK_SYSVAR = address("SysvarC1ock11111111111111111111111111111111");
export const RENT_SYSVAR = address("SysvarRent111111111111111111111111111111111");
