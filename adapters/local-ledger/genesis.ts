import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../core/protocol/well-known-addresses.ts";
import { runLocally } from "./faucet.ts";
import { createAccount, initializeMint } from "./funding-instructions.ts";
import { LOCAL_AUTHORITY, LOCAL_FAUCET, localKey } from "./local-keys.ts";
import type { Genesis, LocalLedger } from "./runtime/ledger.ts";

/** What the faucet can give out in all: 500 million SOL. */
const FAUCET_LAMPORTS = 500_000_000n * 1_000_000_000n;
/** Size of an SPL Token mint (SPL Token `state.rs`: Mint::LEN). */
const MINT_LENGTH = 82;
const USDC_DECIMALS = 6;

const fund = (ledger: LocalLedger): void =>
  ledger.plant(LOCAL_FAUCET.address, {
    lamports: FAUCET_LAMPORTS,
    owner: SYSTEM_PROGRAM,
    data: new Uint8Array(),
    executable: false,
    rentEpoch: (1n << 64n) - 1n,
  });

const makeUsdc = (ledger: LocalLedger): void => {
  const mint = localKey("usdc-mint");
  runLocally(
    ledger,
    LOCAL_FAUCET,
    [mint],
    [
      createAccount({
        payer: LOCAL_FAUCET.address,
        account: mint.address,
        lamports: ledger.minimumBalance(MINT_LENGTH),
        space: MINT_LENGTH,
        owner: TOKEN_PROGRAM,
      }),
      initializeMint({
        mint: mint.address,
        decimals: USDC_DECIMALS,
        authority: LOCAL_AUTHORITY.address,
      }),
    ],
  );
};

/** The beginning of every local ledger: a faucet and the mock USDC. */
export const localGenesis = (_options: { readonly demo: boolean }): Genesis => ({
  ageMs: 60_000,
  fill: (ledger) => {
    fund(ledger);
    makeUsdc(ledger);
  },
});
