import type { Address } from "../../core/domain/address.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import { associatedTokenAddress } from "../../core/protocol/addresses/addresses.ts";
import { createAssociatedTokenInstruction } from "../../core/protocol/accounts/token.ts";
import { computeUnitLimit, mintTokens, transferLamports } from "./genesis/funding-instructions.ts";
import { LOCAL_AUTHORITY, LOCAL_FAUCET, LOCAL_USDC_MINT } from "./genesis/local-keys.ts";
import { runLocally } from "./genesis/local-transactions.ts";
import type { LocalLedger } from "./runtime/ledger.ts";

/** The faucet limit in lamports: an airdrop gives at most 1,000 SOL. */
export const MAX_AIRDROP_LAMPORTS = 1_000_000_000_000n;
/** Most base units of one token airdrop: 1,000,000 mock USDC. */
export const MAX_TOKEN_AIRDROP = 1_000_000_000_000n;

/** Compute units for an airdrop. The numbers above it make equal airdrops differ. */
const BASE_UNITS = 200_000;
const DISTINCT = 1_000_000;

/** Gives out lamports and mock USDC in real transactions. */
export const faucet = (ledger: LocalLedger) => {
  let nonce = Math.floor(Math.random() * DISTINCT);
  // Makes equal airdrops differ. Otherwise the second one within a block would be a replay of the first.
  const distinct = (): Instruction => {
    nonce = (nonce + 1) % DISTINCT;
    return computeUnitLimit(BASE_UNITS + nonce);
  };
  return {
    /** Sends lamports and returns the signature. */
    airdrop: (to: Address, lamports: bigint): LedgerSignature =>
      runLocally(
        ledger,
        LOCAL_FAUCET,
        [],
        [distinct(), transferLamports(LOCAL_FAUCET.address, to, lamports)],
      ),
    /**
     * Mints mock USDC, in base units, to the owner's associated token account, which it creates if missing. Returns the
     * signature.
     */
    airdropTokens: (owner: Address, amount: bigint): LedgerSignature =>
      runLocally(
        ledger,
        LOCAL_FAUCET,
        [LOCAL_AUTHORITY],
        [
          distinct(),
          createAssociatedTokenInstruction({
            payer: LOCAL_FAUCET.address,
            owner,
            mint: LOCAL_USDC_MINT,
          }),
          mintTokens({
            mint: LOCAL_USDC_MINT,
            account: associatedTokenAddress(owner, LOCAL_USDC_MINT),
            authority: LOCAL_AUTHORITY.address,
            amount,
          }),
        ],
      ),
  };
};
