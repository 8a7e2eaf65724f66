import type { Address } from "../../../core/domain/address.ts";
import { type Account, rent, TOKEN_BYTES } from "./account.ts";
import type { Sent } from "./call.ts";
import { callOf, type Target } from "./calls.ts";
import {
  ADMINS,
  AGENTS,
  ATTESTORS,
  deployedWorld,
  fallbackOf,
  MERCHANTS,
  MINTS,
  PAYERS,
  PROOFS,
  SESSION_KEYS,
  STRANGER,
  TASKS,
} from "./cast.ts";
import { wallet } from "../fixture/wallet.ts";
import { judge } from "./transaction.ts";
import {
  associatedOf,
  ATTESTOR_DATA,
  CUSTODY_DATA,
  escrowOf,
  GENESIS_HASH,
  merchantOf,
  type World,
} from "./world.ts";

// Whom exploration is about: one agent, one merchant, a sponsor, two attestor keys, a session and a single payment.

export const [AGENT] = AGENTS;
export const [MERCHANT] = MERCHANTS;
export const [ADMIN] = ADMINS;
export const [MINT] = MINTS;
export const [, SPONSOR] = PAYERS;
export const [KEY_A, KEY_B = KEY_A] = ATTESTORS;
export const [SESSION_KEY, STRANGERS_KEY = SESSION_KEY] = SESSION_KEYS;
export const MERCHANT_ACCOUNT = merchantOf(MERCHANT).address;
export const AGENT_TOKENS = associatedOf(AGENT, MINT).address;
export const MERCHANT_TOKENS = associatedOf(MERCHANT, MINT).address;
export const AGENT_FALLBACK = fallbackOf(AGENT, MINT);
export const MERCHANT_FALLBACK = fallbackOf(MERCHANT, MINT);
export const STRANGER_TOKENS = associatedOf(STRANGER, MINT).address;

const targetOf = (task: number, rentPayer: Address): Target => ({
  escrow: escrowOf(AGENT, TASKS[task] ?? PROOFS[0]).address,
  agent: AGENT,
  merchant: MERCHANT,
  mint: MINT,
  rentPayer,
});

/** The session, whose rent a sponsor pays. */
export const SESSION = targetOf(0, SPONSOR);
/** The single payment, whose rent the agent pays. */
export const SINGLE = targetOf(1, AGENT);
export const SESSION_VAULT = associatedOf(SESSION.escrow, MINT).address;

/** A token account that somebody made for the session's account, beside its vault. */
export const DECOY = wallet("decoy vault").address;

/** An escrow's facts with the payees' other accounts. */
export const withFallbacks = (target: Target): Target => ({
  ...target,
  agentFallback: AGENT_FALLBACK,
  merchantFallback: MERCHANT_FALLBACK,
});

/** An escrow's facts with a stranger's account in their place. */
export const withTheft = (target: Target): Target => ({
  ...target,
  agentFallback: STRANGER_TOKENS,
  merchantFallback: STRANGER_TOKENS,
});

/** A token account of MINT that nobody else has a right on. */
export const tokenAccount = (holder: Address, amount: bigint): Account => ({
  lamports: rent(TOKEN_BYTES),
  content: {
    kind: "token",
    mint: MINT,
    holder,
    amount,
    delegate: null,
    closeAuthority: null,
    frozen: false,
  },
});

/** The world after a transaction. @throws Error when the model refuses it. */
export const taken = (world: World, ...sent: Sent): World => {
  const judgement = judge(world, sent);
  if (!judgement.accepted) throw new Error(`refused: ${[...judgement.refusals].join()}`);
  return judgement.after;
};

/**
 * The state in which exploration begins: both programs initialised, the merchant registered with key A, the agent with
 * eight units.
 */
export const exploredWorld = (): World => {
  const world = deployedWorld();
  const accounts = new Map(world.accounts)
    .set(AGENT_TOKENS, tokenAccount(AGENT, 8n))
    .set(AGENT_FALLBACK, tokenAccount(AGENT, 0n))
    .set(STRANGER_TOKENS, tokenAccount(STRANGER, 0n))
    .set(DECOY, tokenAccount(SESSION.escrow, 9n));
  const by = { payer: ADMIN, upgrade_authority: ADMIN };
  return taken(
    { ...world, accounts },
    callOf(
      "initialize_custody",
      { ...by, program_data: CUSTODY_DATA },
      { genesisHash: GENESIS_HASH },
    ),
    callOf("initialize_registry", { ...by, program_data: ATTESTOR_DATA }, { settlementMint: MINT }),
    callOf(
      "register_merchant",
      { payer: MERCHANT, merchant_wallet: MERCHANT, merchant: MERCHANT_ACCOUNT },
      { attestor: KEY_A.address, name: new TextEncoder().encode("Weather Data Ltd") },
    ),
  );
};
