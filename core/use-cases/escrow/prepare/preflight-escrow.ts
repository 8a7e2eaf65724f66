import { Effect } from "effect";
import { type Address, addressToBytes } from "../../../domain/address.ts";
import type { MerchantStatus } from "../../../domain/merchant/merchant.ts";
import { ESCROW_ACCOUNT_LENGTH } from "../../../protocol/accounts/escrow-account.ts";
import { ARCHIVED_ESCROW_LENGTH } from "../../../protocol/accounts/archived-escrow-account.ts";
import { decodeCustodyConfigAccount } from "../../../protocol/accounts/settings-accounts.ts";
import { listedMint } from "../../../domain/supported-mint.ts";
import { decodeMerchantAccount } from "../../../protocol/accounts/merchant-account.ts";
import {
  decodeTokenAccount,
  isClassicMint,
  TOKEN_ACCOUNT_LENGTH,
} from "../../../protocol/accounts/token.ts";
import { createEscrowAddresses } from "../../../protocol/addresses/addresses.ts";
import { CLOCK_SYSVAR, RENT_SYSVAR } from "../../../protocol/addresses/well-known-addresses.ts";
import { canVerifyUnder } from "../../../protocol/crypto/strict-ed25519.ts";
import { isOffCurve } from "../../../protocol/crypto/curve-point.ts";
import { depositFor } from "../../../protocol/rules/lamport-rules.ts";
import { preparedFault } from "../../../protocol/rules/settlement-check.ts";
import { ledgerDomain } from "../../service/ledger-domain.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { wrongMerchantState } from "../../merchant/merchant-ground.ts";
import type { StateRule } from "../../request-errors.ts";
import { groundOf } from "./escrow-surroundings.ts";
import {
  assembleCall,
  type DraftCall,
  type FinishedCall,
  type Ground,
  payerFaultOf,
} from "./finish-call.ts";
import { checkTransactionSigner } from "./parse-sending.ts";
import { checkEnd, creationOf, type PreparedEscrow } from "./prepare-escrow.ts";
import { ledgerTimeOf } from "../read-escrow.ts";
import { refuseContradicted, refuseEmptied } from "../refuse-contradicted.ts";
import { orAskAnother } from "../../or-ask-another.ts";

/** Whether creating a prepared escrow would succeed, judged by the ledger's present state. */
export type EscrowPreflight = {
  /** Null when the merchant is not registered. */
  readonly merchantStatus: MerchantStatus | null;
  readonly mintSupported: boolean;
  /** Base units in the agent's associated token account, null when it has none. */
  readonly agentBalance: bigint | null;
  readonly balanceSufficient: boolean;
  /** Whether the escrow's address was never used: a tombstone counts as used. */
  readonly escrowAddressFree: boolean;
  /** Every rule by which relay or ledger would refuse the escrow at present; empty when none. */
  readonly blockers: ReadonlyArray<Blocker>;
  /** No blocker was found. */
  readonly ready: boolean;
  readonly cost: FinishedCall["cost"];
  readonly slot: bigint;
};

type Blocker = { readonly rule: StateRule; readonly detail: string };

/** A prepared escrow, checked against the ledger. */
export type PreflightedEscrow = {
  /** The same escrow with the merchant's present attestor in its instruction, unless the request names a key. */
  readonly prepared: PreparedEscrow;
  readonly preflight: EscrowPreflight;
  /** Null unless a transaction was wanted. */
  readonly call: FinishedCall | null;
};

/** The escrow with the merchant's present attestor in its instruction. */
const withAttestor = (
  prepared: PreparedEscrow,
  attestor: Address,
  deployment: Instance["Service"]["deployment"],
): PreparedEscrow => {
  const terms = { ...prepared, attestor };
  const addresses = createEscrowAddresses(deployment, terms);
  return { ...terms, instruction: creationOf(deployment, terms, addresses) };
};

const tokenBlockers = (
  { mint, agentOwner, agentTokenAccount, vaultTokenAccount, amount }: PreparedEscrow,
  find: Ground["find"],
): ReadonlyArray<Blocker> => {
  const mintAccount = find(mint);
  if (mintAccount === null || !isClassicMint(mintAccount))
    return [
      {
        rule: "mint_unusable",
        detail: `${mint} is not a mint of the SPL Token program; mints of Token-2022 are refused`,
      },
    ];
  const account = find(agentTokenAccount);
  const token = account === null ? undefined : decodeTokenAccount(account);
  if (token === undefined || token.owner !== agentOwner || token.mint !== mint)
    return [
      {
        rule: "agent_account_missing",
        detail: `the agent's associated token account ${agentTokenAccount} does not exist or has another owner`,
      },
    ];
  const vault = find(vaultTokenAccount);
  return [
    ...(token.frozen
      ? [
          {
            rule: "agent_account_frozen" as const,
            detail: `the agent's token account ${agentTokenAccount} is frozen`,
          },
        ]
      : []),
    ...(token.amount < amount
      ? [
          {
            rule: "insufficient_funds" as const,
            detail: `the agent's token account holds ${token.amount} of ${amount} base units`,
          },
        ]
      : []),
    ...(vault !== null && decodeTokenAccount(vault)?.frozen === true
      ? [
          {
            rule: "vault_frozen" as const,
            detail: `somebody made the vault ${vaultTokenAccount} and the mint's freeze authority froze it`,
          },
        ]
      : []),
  ];
};

const draftOf = (
  { escrow, vaultTokenAccount, instruction }: PreparedEscrow,
  { find, rent }: Ground,
) => {
  const [held, vault] = [find(escrow), find(vaultTokenAccount)];
  const ofEscrow = depositFor(held, ESCROW_ACCOUNT_LENGTH, rent);
  const ofVault = depositFor(vault, TOKEN_ACCOUNT_LENGTH, rent);
  const inEscrow = (held?.lamports ?? 0n) + ofEscrow;
  const own = rent.minimumBalance(ESCROW_ACCOUNT_LENGTH);
  const kept = rent.minimumBalance(ARCHIVED_ESCROW_LENGTH);
  const draft: DraftCall = {
    operation: "create_escrow",
    instructions: [instruction],
    payouts: [],
    warnings: [],
    until: null,
    cost: {
      deposits: [
        { account: escrow, lamports: ofEscrow },
        { account: vaultTokenAccount, lamports: ofVault },
      ],
      returnedAtSettlement: (vault?.lamports ?? 0n) + ofVault + inEscrow - own,
      returnedAtArchiving: own - kept,
      kept,
    },
    returnedToPayer: 0n,
  };
  return draft;
};

/**
 * Reads everything that relay and ledger will check when an escrow is created, and puts the merchant's present attestor
 * into its instruction. Fails with `ValidationFailed` for an end that the ledger's clock has reached or that is too far
 * from it. With a transaction wanted, fails with `WrongState` by the first blocker, and with `ValidationFailed` where
 * no key signs for the agent. Fails as the ledger does, and with `LedgerUnavailable` for an answer about the escrow's
 * address that contradicts the index, after another node was asked if there is one.
 */
export const preflightEscrow = Effect.fn("preflightEscrow")(function* (
  asked: PreparedEscrow,
  wantsTransaction = false,
) {
  yield* checkTransactionSigner("agentOwner", asked.agentOwner, wantsTransaction);
  const ledger = yield* Ledger;
  const { deployment, supportedMints } = yield* Instance;
  const { config } = createEscrowAddresses(deployment, asked);
  const payer = asked.payer ?? asked.agentOwner;
  const addresses = [
    asked.merchantAccount,
    asked.agentTokenAccount,
    asked.escrow,
    asked.vaultTokenAccount,
    asked.mint,
    config,
    payer,
    CLOCK_SYSVAR,
    RENT_SYSVAR,
  ];
  const { slot, value } = yield* ledger.readAccounts([...new Set(addresses)], "confirmed");
  const { find, rent } = yield* groundOf(value);
  yield* refuseContradicted(asked.escrow, find(asked.escrow), {
    slot,
    commitment: "confirmed",
  });
  const ledgerTime = yield* ledgerTimeOf(find(CLOCK_SYSVAR));
  yield* checkEnd(asked, ledgerTime);
  const ground: Ground = { find, rent, at: { slot, ledgerTime } };
  const merchantAccount = find(asked.merchantAccount);
  const decoded =
    merchantAccount === null ? undefined : decodeMerchantAccount(merchantAccount, deployment);
  const merchant = decoded !== undefined && "value" in decoded ? decoded.value : null;
  const prepared =
    asked.attestor === null && merchant !== null
      ? withAttestor(asked, merchant.attestor, deployment)
      : asked;
  const domain = yield* ledgerDomain;
  const view = { deployment, domain, account: find, ledgerTime, marginSeconds: 0n };
  const configAccount = find(config);
  const isInitialized =
    configAccount !== null && "value" in decodeCustodyConfigAccount(configAccount, deployment);
  const fault = preparedFault([prepared.instruction], payer, view);
  const blockers: Array<Blocker> = [
    ...(isInitialized
      ? []
      : [
          {
            rule: "deployment_not_initialized" as const,
            detail: "the custody config does not exist yet",
          },
        ]),
    ...(fault === undefined ? [] : [fault]),
    ...(merchant !== null && !canVerifyUnder(addressToBytes(merchant.attestor))
      ? [
          {
            rule: "attestor_unusable" as const,
            detail: `no signature verifies under the merchant's attestor key ${merchant.attestor}, the escrow could never be released`,
          },
        ]
      : []),
    ...tokenBlockers(prepared, find),
    ...(isOffCurve(asked.agentOwner)
      ? [
          {
            rule: "signer_is_derived" as const,
            detail: `no key signs for the agent ${asked.agentOwner}, so that no transaction makes this escrow; the program that derives the address can, in a call of its own`,
          },
        ]
      : []),
  ];
  const draft = draftOf(prepared, ground);
  const account = find(asked.agentTokenAccount);
  const token = account === null ? undefined : decodeTokenAccount(account);
  const usable =
    token !== undefined && token.mint === prepared.mint && token.owner === prepared.agentOwner;
  const call = yield* assembleCall(draft, { payer, wantsTransaction }, ground.at).pipe(
    // The agent pays unless the request names a payer.
    Effect.catchTag("ValidationFailed", Effect.die),
  );
  const unpaid = payerFaultOf(call, draft, ground);
  if (unpaid !== undefined) blockers.push({ rule: "payer_cannot_pay", detail: unpaid });
  const [first] = blockers;
  if (first !== undefined) yield* refuseEmptied(configAccount, slot);
  if (wantsTransaction && first !== undefined)
    return yield* wrongMerchantState({ merchant, at: ground.at }, first.rule, first.detail);
  const held = find(asked.escrow);
  const preflight: EscrowPreflight = {
    merchantStatus: merchant?.status ?? null,
    mintSupported: listedMint(supportedMints, prepared.mint) !== undefined,
    agentBalance: usable ? token.amount : null,
    balanceSufficient: usable && !token.frozen && token.amount >= prepared.amount,
    escrowAddressFree: held === null || held.data.length === 0,
    blockers,
    ready: blockers.length === 0,
    cost: call.cost,
    slot,
  };
  const result: PreflightedEscrow = {
    prepared,
    preflight,
    call: wantsTransaction ? call : null,
  };
  return result;
}, orAskAnother);
