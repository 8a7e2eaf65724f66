import type { AccountKind, Decoded, LedgerAccount } from "../../domain/ledger/account.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { Merchant } from "../../domain/merchant/merchant.ts";
import {
  ARCHIVED_ESCROW_DISCRIMINATOR,
  ARCHIVED_ESCROW_HASH_AT,
  ARCHIVED_ESCROW_LENGTH,
  type ArchivedEscrow,
  decodeArchivedEscrowAccount,
} from "./archived-escrow-account.ts";
import { decodeAttestorRegistryAccount, decodeCustodyConfigAccount } from "./settings-accounts.ts";
import {
  checkEscrowAccount,
  ESCROW_ACCOUNT_LENGTH,
  ESCROW_DISCRIMINATOR,
} from "./escrow-account.ts";
import type { EscrowOutline } from "./escrow-outline.ts";
import {
  decodeMerchantAccount,
  MERCHANT_ACCOUNT_LENGTH,
  MERCHANT_DISCRIMINATOR,
} from "./merchant-account.ts";

/**
 * An account of one of the two programs, decoded as a merchant or a tombstone, checked as an escrow, or the fault that
 * prevents it. `escrowIn` decodes an escrow: scans read millions of which nobody needs the texts.
 */
type ProgramAccount =
  | { readonly kind: "escrow"; readonly decoded: Decoded<EscrowOutline> }
  | { readonly kind: "archived_escrow"; readonly decoded: { readonly value: ArchivedEscrow } }
  | { readonly kind: "merchant"; readonly decoded: Decoded<Merchant> };

/**
 * Decodes an account by its owner: custody owns escrows and tombstones, the attestor program owns merchants. Null for
 * the account of another program, and for each program's own settings (config, registry).
 */
export const readProgramAccount = (
  account: LedgerAccount,
  deployment: Deployment,
): ProgramAccount | null => {
  if (account.owner === deployment.custodyProgram) {
    if ("value" in decodeCustodyConfigAccount(account, deployment)) return null;
    const archived = decodeArchivedEscrowAccount(account, deployment);
    if ("value" in archived) return { kind: "archived_escrow", decoded: archived };
    return { kind: "escrow", decoded: checkEscrowAccount(account, deployment) };
  }
  if (account.owner === deployment.attestorProgram) {
    if ("value" in decodeAttestorRegistryAccount(account, deployment)) return null;
    return { kind: "merchant", decoded: decodeMerchantAccount(account, deployment) };
  }
  return null;
};

/**
 * Offset of the first byte of the wallet that an escrow or a merchant belongs to: a public key, and so evenly
 * spread. See docs/protocol.md, "Escrow account" and "Merchant account".
 */
const WALLET_AT = 16;

/**
 * The kinds of account that a snapshot scans for, in this order: merchants, escrows, tombstones. An escrow that is
 * archived between two scans is in at least one of them.
 */
export const indexedKinds = ({
  attestorProgram,
  custodyProgram,
}: Deployment): ReadonlyArray<AccountKind> => [
  {
    program: attestorProgram,
    length: MERCHANT_ACCOUNT_LENGTH,
    discriminator: MERCHANT_DISCRIMINATOR,
    splitAt: WALLET_AT,
  },
  {
    program: custodyProgram,
    length: ESCROW_ACCOUNT_LENGTH,
    discriminator: ESCROW_DISCRIMINATOR,
    splitAt: WALLET_AT,
  },
  {
    program: custodyProgram,
    length: ARCHIVED_ESCROW_LENGTH,
    discriminator: ARCHIVED_ESCROW_DISCRIMINATOR,
    splitAt: ARCHIVED_ESCROW_HASH_AT,
  },
];
