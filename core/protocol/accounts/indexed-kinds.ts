import type { AccountKind } from "../../domain/ledger/account-kind.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import {
  ARCHIVED_ESCROW_DISCRIMINATOR,
  ARCHIVED_ESCROW_HASH_AT,
  ARCHIVED_ESCROW_LENGTH,
} from "./archived-escrow-account.ts";
import { ESCROW_ACCOUNT_LENGTH, ESCROW_DISCRIMINATOR } from "./escrow-account.ts";
import { MERCHANT_ACCOUNT_LENGTH, MERCHANT_DISCRIMINATOR } from "./merchant-account.ts";

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
