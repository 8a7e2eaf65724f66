import { readFileSync } from "node:fs";
import type { Address } from "../../../core/domain/address.ts";
import { initializeRegistryInstruction } from "../../../core/protocol/instructions/attestor-instructions.ts";
import { initializeCustodyInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { deployedProgramAccounts } from "../../../core/protocol/accounts/loader-v3.ts";
import {
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { DEMO_AGE_MS, makeDemoData } from "./demo-data.ts";
import { createAccount, initializeMint } from "./funding-instructions.ts";
import { LOCAL_AUTHORITY, LOCAL_FAUCET, LOCAL_USDC_MINT, localKey } from "./local-keys.ts";
import { runLocally } from "./local-transactions.ts";
import type { Genesis, LocalLedger } from "../runtime/ledger.ts";

/** The faucet's whole balance: 500 million SOL. */
const FAUCET_LAMPORTS = 500_000_000n * 1_000_000_000n;
/** Size of an SPL Token mint (SPL Token `state.rs`: Mint::LEN). */
const MINT_LENGTH = 82;
const USDC_DECIMALS = 6;
/** Rent epoch of an account that pays no rent (Agave `rent_collector.rs`: RENT_EXEMPT_RENT_EPOCH). */
const RENT_EXEMPT = (1n << 64n) - 1n;

const fundFaucet = (ledger: LocalLedger): void =>
  ledger.plant(LOCAL_FAUCET.address, {
    lamports: FAUCET_LAMPORTS,
    owner: SYSTEM_PROGRAM,
    data: new Uint8Array(),
    executable: false,
    rentEpoch: RENT_EXEMPT,
  });

const deploy = (ledger: LocalLedger, program: Address, binary: URL): void => {
  const elf = new Uint8Array(readFileSync(binary));
  const upgradeAuthority = LOCAL_AUTHORITY.address;
  const accounts = deployedProgramAccounts(
    program,
    { slot: 0n, upgradeAuthority, elf },
    ledger.minimumBalance,
  );
  for (const { address, ...state } of accounts)
    ledger.plant(address, { ...state, rentEpoch: RENT_EXEMPT });
};

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

const initializePrograms = (ledger: LocalLedger): void => {
  const authority = {
    payer: LOCAL_FAUCET.address,
    upgradeAuthority: LOCAL_AUTHORITY.address,
  };
  runLocally(
    ledger,
    LOCAL_FAUCET,
    [LOCAL_AUTHORITY],
    [
      initializeRegistryInstruction(LOCAL_DEPLOYMENT, {
        ...authority,
        settlementMint: LOCAL_USDC_MINT,
      }),
      initializeCustodyInstruction(LOCAL_DEPLOYMENT, {
        ...authority,
        genesisHash: ledger.genesisHash,
      }),
    ],
  );
};

/** The first block of a ledger with a faucet and nothing else, as a cluster is to whoever deploys there. */
export const EMPTY_GENESIS: Genesis = { ageMs: 60_000, fill: fundFaucet };

/**
 * The first block of every other local ledger: both programs, initialized and under an upgrade authority, a faucet, and
 * the mock USDC mint. With `demo` also the demo data; the ledger then begins further in the past.
 */
export const localGenesis = ({ demo }: { readonly demo: boolean }): Genesis => ({
  ageMs: demo ? DEMO_AGE_MS : 60_000,
  fill: (ledger, advance) => {
    fundFaucet(ledger);
    const { custodyProgram, attestorProgram } = LOCAL_DEPLOYMENT;
    deploy(ledger, custodyProgram, new URL("../../../programs/custody.so", import.meta.url));
    deploy(ledger, attestorProgram, new URL("../../../programs/attestor.so", import.meta.url));
    makeUsdc(ledger);
    initializePrograms(ledger);
    if (demo) makeDemoData(ledger, advance);
  },
});
