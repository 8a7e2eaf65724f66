import { type Address, addressFromBytes } from "../../../core/domain/address.ts";
import { formatUnits } from "../../../core/domain/amount.ts";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import { decodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import { ed25519Key } from "../../../core/protocol/crypto/ed25519-key.ts";
import { sessionTerms, type SessionTerms } from "../../../core/protocol/calls/session-terms.ts";
import { type FinalAccount, termsIn } from "../../pay/escrow-on-ledger.ts";
import { requireSame } from "../../pay/escrow-there.ts";
import { pay, type PayContext } from "../../pay/pay.ts";
import { deploymentIn, mintOf, paymentTerms, type PaymentTerms } from "../../pay/payment-terms.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { AcceptedSigner, MessageSigner } from "../../signing/sign-transaction.ts";
import type { SessionJournal, SessionOpening } from "./session-journal.ts";

/** What opening a session needs. */
export type OpenContext = PayContext & {
  /** The escrow's account once it is finalized. */
  readonly finalAccount: FinalAccount;
};

/** What a session is opened for. */
export type SessionPlan = {
  /** The merchant's wallet. */
  readonly merchant: string;
  /** The most that all calls may cost, decimal, such as "5.00". What is not used comes home. */
  readonly budget: string;
  /** Seconds until the rest comes home by itself, 600 to 604,800. */
  readonly ttl: number;
  /** A mint of the trust document; it may be left out when that lists one. */
  readonly mint?: string | undefined;
  /** The key that must attest; the merchant's present one when left out. */
  readonly attestor?: string | undefined;
  /** The only origin that is called, such as `https://api.example.com`; any when left out. */
  readonly origin?: string | undefined;
};

/** Sellers take no shorter session, in seconds. */
export const LEAST_SESSION_SECONDS = 600;

const TASK = "Calls of a session, each ordered by a voucher of its session key.";
const SEED_BYTES = 32;

const keyOf = (seed: Uint8Array): Address => addressFromBytes(ed25519Key(seed).publicKey);

const refuse = (code: string, detail: string, cure: string): never => {
  throw new SettlementError(code, detail, `Nothing was signed. ${cure}`);
};

const seedIn = ({ seed }: SessionOpening): Uint8Array => {
  const bytes = decodeBase64(seed);
  return bytes?.length === SEED_BYTES
    ? bytes
    : refuse(
        "journal_unusable",
        "The journal holds no session key.",
        "Restore it, or use another.",
      );
};

/** The terms of the escrow that a journal's opening names. @throws SettlementError for a journal that holds none */
export const openedTerms = (policy: TrustPolicy, opening: SessionOpening) => {
  const { merchant, mint, task, nonce, ttl, attestor } = opening;
  const amount = formatUnits(BigInt(opening.budget), mintOf(policy, mint).decimals);
  const payment = {
    merchant,
    mint,
    amount,
    task,
    nonce,
    ttl,
    ...(attestor === null ? {} : { attestor }),
  };
  return { payment, terms: paymentTerms(payment, opening.agent, policy, keyOf(seedIn(opening))) };
};

/**
 * An opening for a plan, with a new session key, and the address of its escrow. Everything about it is checked, and
 * nothing is signed. @throws SettlementError
 */
export const plannedSession = (
  policy: TrustPolicy,
  plan: SessionPlan,
  agent: string,
): { readonly opening: SessionOpening; readonly terms: PaymentTerms } => {
  if (!(plan.ttl >= LEAST_SESSION_SECONDS))
    refuse(
      "invalid_ttl",
      `A session has at least ${LEAST_SESSION_SECONDS} s.`,
      "Give a longer ttl.",
    );
  const seed = crypto.getRandomValues(new Uint8Array(SEED_BYTES));
  const { merchant, budget: amount, ttl, mint, attestor, origin } = plan;
  const nonce = crypto.randomUUID();
  const terms: PaymentTerms = paymentTerms(
    {
      merchant,
      amount,
      ttl,
      task: TASK,
      nonce,
      ...(mint === undefined ? {} : { mint }),
      ...(attestor === undefined ? {} : { attestor }),
    },
    agent,
    policy,
    keyOf(seed),
  );
  const opening: SessionOpening = {
    version: 3,
    network: policy.genesisHash,
    agent,
    merchant,
    mint: terms.mint.address,
    budget: terms.amount.toString(),
    task: TASK,
    nonce,
    ttl,
    attestor: terms.attestor,
    ...(origin === undefined ? {} : { origin }),
    seed: encodeBase64(seed),
    account: null,
    fees: "0",
  };
  return { opening, terms };
};

/** @throws SettlementError `another_session` when a journal's session is of another plan, signer or ledger */
const requireAsked = (
  kept: SessionOpening,
  { policy }: OpenContext,
  agent: string,
  asked: SessionOpening | null,
): void => {
  const wanted = asked ?? kept;
  const sides = [
    ["ledger", policy.genesisHash, kept.network],
    ["agent", agent, kept.agent],
    ["merchant", wanted.merchant, kept.merchant],
    ["mint", wanted.mint, kept.mint],
    ["budget", wanted.budget, kept.budget],
    ["ttl", `${wanted.ttl}`, `${kept.ttl}`],
    ["attestor", wanted.attestor ?? kept.attestor, kept.attestor],
    ["origin", wanted.origin, kept.origin],
  ].filter(([, one, other]) => one !== other);
  if (sides.length > 0)
    refuse(
      "another_session",
      `The journal has a session on other terms: ${sides.map(([what, one, other]) => `${what} asked ${one}, kept ${other}`).join("; ")}.`,
      "Give another journal for another session.",
    );
};

/** A session that is open on the ledger, and its key. */
export type OpenedSession = {
  readonly session: SessionTerms;
  readonly escrow: Escrow;
  readonly signer: MessageSigner;
  readonly decimals: number;
  /** The only origin that is called, null for any. */
  readonly origin: string | null;
};

/** Adds what a transaction cost to what a journal keeps. */
export const chargedTo =
  (journal: SessionJournal) =>
  async (lamports: bigint): Promise<void> => {
    const { opening } = await journal.state();
    if (opening !== null)
      await journal.open({ ...opening, fees: (BigInt(opening.fees) + lamports).toString() });
  };

/**
 * Opens a session, or goes on with the one that the journal has. The session key is made here and kept before anything
 * is signed, and one journal never opens two escrows. Waits until the escrow is finalized, and requires that its
 * account holds what was asked for. @throws SettlementError
 */
export const openSession = async (
  context: OpenContext,
  journal: SessionJournal,
  plan: SessionPlan | null,
  {
    signer,
    signal,
  }: { readonly signer: AcceptedSigner; readonly signal?: AbortSignal | undefined },
): Promise<OpenedSession> => {
  const agent = signer.address;
  const { opening: kept } = await journal.state();
  const { policy } = context;
  const asked = plan === null ? null : plannedSession(policy, plan, agent).opening;
  const opening =
    kept ??
    asked ??
    refuse("nothing_opened", "The journal has no session.", "Give merchant, budget and ttl.");
  if (kept === null) await journal.open(opening);
  else requireAsked(kept, context, agent, asked);
  const seed = seedIn(opening);
  const { payment, terms } = openedTerms(policy, opening);
  const found = async () => {
    const charged = chargedTo(journal);
    await pay({ ...context, charged }, { ...payment, signer, signal }, terms.sessionKey);
    return context.finalAccount(terms.escrow, signal);
  };
  const account =
    opening.account === null
      ? await found()
      : { owner: deploymentIn(policy).custodyProgram, data: decodeBase64(opening.account) };
  const data = account.data ?? new Uint8Array();
  const decoded = decodeEscrowAccount(
    { owner: account.owner, data, address: terms.escrow },
    deploymentIn(policy),
  );
  const session = "fault" in decoded ? null : sessionTerms(decoded.value, policy);
  if ("fault" in decoded || session === null)
    throw new SettlementError(
      "unsound_escrow",
      `The account of ${terms.escrow} holds no session.`,
      "Call nothing with it. Read the escrow from a node of your own.",
    );
  requireSame(termsIn(decoded.value), terms);
  const now = (await journal.state()).opening ?? opening;
  if (now.account === null) await journal.open({ ...now, account: encodeBase64(data) });
  const { publicKey, sign } = ed25519Key(seed);
  return {
    session,
    escrow: decoded.value,
    signer: {
      publicKey: addressFromBytes(publicKey),
      sign: (message) => Promise.resolve(sign(message)),
    },
    decimals: terms.mint.decimals,
    origin: opening.origin ?? null,
  };
};
