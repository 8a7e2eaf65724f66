import type { Address } from "../../../../core/domain/address.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import {
  associatedTokenAddress,
  registryAddress,
} from "../../../../core/protocol/addresses/addresses.ts";
import { ATTESTOR_ACCOUNTS } from "../../../../core/protocol/generated/attestor.ts";
import { CUSTODY_ACCOUNTS } from "../../../../core/protocol/generated/custody.ts";
import { fieldWriter } from "../../../../core/protocol/accounts/byte-fields.ts";
import { deployedProgramAccounts } from "../../../../core/protocol/accounts/loader-v3.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import {
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { MINT } from "../../../adapters/http/support/parties.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { ARCHIVED_SEQS, CLOSED, EXPIRED, LARGEST, PARTIAL, PENDING, SESSION } from "./escrows.ts";
import {
  AGENT,
  MERCHANT,
  OTHER_AGENT,
  OTHER_MINT,
  RELAYER,
  STRANGER,
  SUSPENDED,
} from "./parties.ts";

const account = (
  address: Address,
  owner: Address,
  data: Uint8Array,
  lamports = 1n,
): LedgerAccount => ({
  address,
  owner,
  lamports,
  executable: false,
  data,
});

/** A wallet with lamports and no data. */
export const fundedWallet = (address: Address, lamports: bigint): LedgerAccount =>
  account(address, SYSTEM_PROGRAM, new Uint8Array(), lamports);

/** The associated token account of a wallet (SPL Token `state.rs`, `Account`). */
export const tokenAccount = (
  owner: Address,
  mint: Address,
  amount: bigint,
  isFrozen = false,
  lamports = 1n,
): LedgerAccount =>
  account(
    associatedTokenAddress(owner, mint),
    TOKEN_PROGRAM,
    fieldWriter(165)
      .address(mint)
      .address(owner)
      .u64(amount)
      .skip(36)
      .u8(isFrozen ? 2 : 1)
      .skip(56)
      .done(),
    lamports,
  );

/** The vault of an escrow, with what the merchant was not paid. */
const vaultOf = ({ address, mint, amount, released }: Escrow): LedgerAccount =>
  tokenAccount(address, mint, amount - released, false, 2_039_280n);

/** A token account of the other agent's, not the associated one, that a stranger may spend from. */
export const SHARED_TOKENS = account(
  wallet("shared tokens").address,
  TOKEN_PROGRAM,
  fieldWriter(165)
    .address(OTHER_MINT)
    .address(OTHER_AGENT.address)
    .u64(0n)
    .u32(1)
    .address(STRANGER.address)
    .u8(1)
    .skip(56)
    .done(),
);

/** An account of the custody program that is too short for an escrow. */
export const BROKEN_ESCROW = account(
  wallet("broken escrow").address,
  LOCAL_DEPLOYMENT.custodyProgram,
  new Uint8Array(3),
);
/** An account of the attestor program without a merchant's discriminator. */
export const BROKEN_MERCHANT = account(
  wallet("broken merchant").address,
  LOCAL_DEPLOYMENT.attestorProgram,
  new Uint8Array(208),
);
/** An address that holds lamports and has no account data. */
export const ONLY_FUNDED = fundedWallet(wallet("only funded").address, 1n);

/** The token account of the agent, with 10 USDC. */
export const AGENT_TOKENS = tokenAccount(AGENT.address, MINT, 10_000_000n);

const programs = [
  { program: LOCAL_DEPLOYMENT.custodyProgram, upgradeAuthority: RELAYER.address },
  { program: LOCAL_DEPLOYMENT.attestorProgram, upgradeAuthority: null },
].flatMap(({ program, upgradeAuthority }) =>
  deployedProgramAccounts(
    program,
    { slot: 1n, upgradeAuthority, elf: Uint8Array.of(1, 2, 3, 0, 0) },
    () => 1n,
  ),
);

const registryPda = registryAddress(LOCAL_DEPLOYMENT);

/** The account that says how the attestor program is set up. The ledger has custody's. */
const SET_UP: ReadonlyArray<LedgerAccount> = [
  account(
    registryPda.address,
    LOCAL_DEPLOYMENT.attestorProgram,
    fieldWriter(ATTESTOR_ACCOUNTS.Registry.length)
      .bytes(Uint8Array.from(ATTESTOR_ACCOUNTS.Registry.discriminator))
      .u8(3)
      .u8(registryPda.bump)
      .skip(6)
      .address(RELAYER.address)
      .address(LOCAL_DEPLOYMENT.custodyProgram)
      .address(MINT)
      .skip(32)
      .done(),
  ),
];

/** The mint that the instance lists (SPL Token `state.rs`, `Mint`). */
const MINT_ACCOUNT = account(
  MINT,
  TOKEN_PROGRAM,
  fieldWriter(82).skip(36).u64(1_000_000_000n).u8(6).u8(1).skip(36).done(),
);

/** A wallet with enough lamports for everything. */
export const RICH = fundedWallet(wallet("rich").address, 1_000_000_000n);

/** What is left of an escrow that was refunded and archived. */
export const TOMBSTONE = account(
  wallet("archived escrow").address,
  LOCAL_DEPLOYMENT.custodyProgram,
  fieldWriter(CUSTODY_ACCOUNTS.ArchivedEscrow.length)
    .bytes(Uint8Array.from(CUSTODY_ACCOUNTS.ArchivedEscrow.discriminator))
    .u64(ARCHIVED_SEQS.created)
    .u64(ARCHIVED_SEQS.settled)
    .u8(2)
    .u8(3)
    .skip(6)
    .bytes(new Uint8Array(32).fill(0xaa))
    .bytes(new Uint8Array(32).fill(0xbb))
    .done(),
);

/** Every account on the ledger that is neither escrow nor merchant. */
export const OTHER_ACCOUNTS: ReadonlyArray<LedgerAccount> = [
  ...programs,
  ...SET_UP,
  MINT_ACCOUNT,
  RICH,
  TOMBSTONE,
  fundedWallet(RELAYER.address, 1_000_000n),
  fundedWallet(AGENT.address, 10_000_000n),
  AGENT_TOKENS,
  tokenAccount(MERCHANT.wallet, MINT, 0n),
  SHARED_TOKENS,
  tokenAccount(OTHER_AGENT.address, MINT, 10_000_000n, true),
  tokenAccount(OTHER_AGENT.address, OTHER_MINT, 0n, true),
  tokenAccount(MERCHANT.wallet, OTHER_MINT, 0n),
  tokenAccount(SUSPENDED.wallet, OTHER_MINT, 0n),
  ...[PENDING, EXPIRED, LARGEST, SESSION, PARTIAL].map(vaultOf),
  // The rent of the closed session's vault is still in its account.
  account(CLOSED.address, LOCAL_DEPLOYMENT.custodyProgram, encodeEscrowAccount(CLOSED), 5_825_520n),
  BROKEN_ESCROW,
  BROKEN_MERCHANT,
  ONLY_FUNDED,
];
