import type { Address } from "../../../core/domain/address.ts";
import { type Claim, claimOn } from "./attestation.ts";
import { INSTRUCTIONS_SYSVAR } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { type Account, escrowBytes, rent, type Token } from "./account.ts";
import type { Sent } from "./call.ts";
import { attesting, callOf, createCall, refundCall, releaseCall, type Target } from "./calls.ts";
import {
  ADMINS,
  AGENTS,
  ATTESTORS,
  deployedWorld,
  fallbackOf,
  MERCHANTS,
  MINTS,
  PROOFS,
  START,
  STRANGER,
  TASKS,
} from "./cast.ts";
import { judge } from "./transaction.ts";
import {
  accountAt,
  associatedOf,
  ATTESTOR_DATA,
  CUSTODY_DATA,
  escrowOf,
  merchantOf,
  type World,
  GENESIS_HASH,
} from "./world.ts";

// One agent, one merchant, two attestor keys, two escrows, a stranger; and the seconds at which a rule changes its
// answer.

const WEEK = 604_800n;
const TTL = 600;
const EXPIRY = START + BigInt(TTL);
const [AGENT] = AGENTS;
const [MERCHANT] = MERCHANTS;
const [ADMIN] = ADMINS;
const [MINT] = MINTS;
const [PROOF] = PROOFS;
const MERCHANT_ACCOUNT = merchantOf(MERCHANT).address;
const AGENT_TOKENS = associatedOf(AGENT, MINT).address;
const MERCHANT_TOKENS = associatedOf(MERCHANT, MINT).address;
const AGENT_FALLBACK = fallbackOf(AGENT, MINT);
const MERCHANT_FALLBACK = fallbackOf(MERCHANT, MINT);
const STRANGER_TOKENS = associatedOf(STRANGER, MINT).address;

const tokenAccount = (holder: Address, amount: bigint): Account => ({
  lamports: rent(165),
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

/** One operation: a transaction, what others do to an account, or time. */
export type Operation = { readonly name: string } & (
  | {
      readonly kind: "send";
      /** Every account that any of its transactions names. */
      readonly touches: ReadonlyArray<Address>;
      readonly sentIn: (world: World) => Sent;
    }
  | {
      readonly kind: "change";
      readonly address: Address;
      /** Undefined when it changes nothing. */
      readonly change: (account: Account) => Account | undefined;
    }
  | { readonly kind: "wait"; readonly until: bigint }
);

const send = (name: string, sentIn: (world: World) => Sent): Operation => {
  const touches = new Set<Address>();
  for (const { sent } of sentIn(deployedWorld()))
    for (const { address } of sent.accounts) touches.add(address);
  touches.delete(INSTRUCTIONS_SYSVAR);
  return { kind: "send", name, touches: [...touches], sentIn };
};

const always = (name: string, sent: Sent): Operation => send(name, () => sent);

const change = (name: string, address: Address, token: Partial<Token>): Operation => ({
  kind: "change",
  name,
  address,
  change: (account) =>
    account.content.kind === "token"
      ? { ...account, content: { ...account.content, ...token } }
      : undefined,
});

const targetOf = (task: number): Target => ({
  escrow: escrowOf(AGENT, TASKS[task] ?? PROOF).address,
  agent: AGENT,
  merchant: MERCHANT,
  mint: MINT,
  rentPayer: AGENT,
});

const FIRST = targetOf(0);
const SECOND = targetOf(1);
const VAULT = associatedOf(FIRST.escrow, MINT).address;

const [KEY_A, KEY_B = KEY_A] = ATTESTORS;

const create = (name: string, task: number, amount: bigint, attestor?: Address): Operation =>
  always(name, [
    createCall({
      payer: AGENT,
      agent: AGENT,
      merchant: MERCHANT,
      mint: MINT,
      task: TASKS[task] ?? PROOF,
      amount,
      ttlSeconds: TTL,
      ...(attestor && { attestor }),
    }),
  ]);

const release = (
  name: string,
  target: Target,
  {
    by = KEY_A,
    timestamp = START,
    amount,
    signed = () => ({}),
  }: {
    by?: typeof KEY_A;
    timestamp?: bigint;
    amount?: bigint;
    signed?: (world: World) => Partial<Claim>;
  } = {},
): Operation =>
  send(name, (world) => [
    attesting(
      by,
      claimOn(world, target.escrow, {
        proofHash: PROOF,
        timestamp,
        ...(amount && { total: amount }),
        ...signed(world),
      }),
    ),
    releaseCall(target, { proofHash: PROOF, timestamp, ...(amount && { amount }) }),
  ]);

const archive = (name: string, { escrow, rentPayer }: Target, changes = false): Operation =>
  send(name, (world) => {
    const { content } = accountAt(world, escrow);
    const bytes = content.kind === "escrow" ? escrowBytes(content) : new Uint8Array(368);
    const lastBytes = changes ? bytes.with(216, (bytes[216] ?? 0) ^ 1) : bytes;
    return [callOf("archive_escrow", { escrow, rent_payer: rentPayer }, { lastBytes })];
  });

const rotate = (name: string, to: typeof KEY_A, revoke: number): Operation =>
  always(name, [
    callOf(
      "rotate_attestor",
      { merchant_wallet: MERCHANT, merchant: MERCHANT_ACCOUNT },
      { attestor: to.address, revoke },
    ),
  ]);

const status = (name: string, value: number): Operation =>
  always(name, [
    callOf("set_merchant_status", { admin: ADMIN, merchant: MERCHANT_ACCOUNT }, { status: value }),
  ]);

/** The stranger signs instead of the merchant's wallet. */
const strangersCancellation = (): Operation =>
  always("the stranger cancels 1", [refundCall("cancel_escrow", { ...FIRST, merchant: STRANGER })]);

const withFallbacks = (target: Target): Target => ({
  ...target,
  agentFallback: AGENT_FALLBACK,
  merchantFallback: MERCHANT_FALLBACK,
});
const withTheft = (target: Target): Target => ({
  ...target,
  agentFallback: STRANGER_TOKENS,
  merchantFallback: STRANGER_TOKENS,
});

/** Every operation of an explored world. */
export const OPERATIONS: ReadonlyArray<Operation> = [
  create("create 1", 0, 5n),
  create("create 2 for key A", 1, 3n, KEY_A.address),
  release("release 1 by A", withFallbacks(FIRST)),
  release("release 1 by B", FIRST, { by: KEY_B }),
  release("release 1 to the stranger's account", withTheft(FIRST)),
  release("release 1 by A, attested just before expiry", FIRST, { timestamp: EXPIRY - 1n }),
  release("release 1 by A for another ledger", FIRST, { signed: () => ({ domain: PROOF }) }),
  release("release 2 with what A signed for 1", SECOND, {
    signed: (world) => {
      const { terms } = claimOn(world, FIRST.escrow, { proofHash: PROOF, timestamp: START });
      return { terms };
    },
  }),
  release("release 1 by A for less than all", FIRST, { signed: () => ({ total: 1n }) }),
  release("release 2 by A", SECOND),
  release("release 2 units of 1 by A", withFallbacks(FIRST), { amount: 2n }),
  release("release 1 unit of 2 by B", SECOND, { by: KEY_B, amount: 1n }),
  always("refund 1", [refundCall("claim_refund", withFallbacks(FIRST))]),
  always("refund 1 to the stranger's account", [refundCall("claim_refund", withTheft(FIRST))]),
  always("refund 2", [refundCall("claim_refund", SECOND)]),
  always("cancel 1", [refundCall("cancel_escrow", FIRST)]),
  strangersCancellation(),
  always("cancel 2", [refundCall("cancel_escrow", withFallbacks(SECOND))]),
  archive("archive 1", FIRST),
  archive("archive 1 with another byte", FIRST, true),
  archive("archive 2", SECOND),
  rotate("rotate to B", KEY_B, 0),
  rotate("rotate to B and revoke", KEY_B, 1),
  rotate("rotate to A and revoke", KEY_A, 1),
  status("suspend", 1),
  status("reinstate", 0),
  ...[
    START + 300n,
    START + 301n,
    EXPIRY - 1n,
    EXPIRY,
    START + WEEK - 1n,
    START + WEEK,
    EXPIRY + WEEK,
  ].map((until): Operation => ({ kind: "wait", name: `wait until ${until - START} s`, until })),
  {
    kind: "change",
    name: "a unit is sent into vault 1",
    address: VAULT,
    change: (account) =>
      account.content.kind === "token" && account.content.amount < 7n
        ? { ...account, content: { ...account.content, amount: account.content.amount + 1n } }
        : undefined,
  },
  change("the agent's account is frozen", AGENT_TOKENS, { frozen: true }),
  change("the agent gives the account away", AGENT_TOKENS, { holder: STRANGER }),
  change("the agent approves a delegate", AGENT_TOKENS, { delegate: STRANGER }),
  change("the agent's account is the agent's and thawed", AGENT_TOKENS, {
    holder: AGENT,
    frozen: false,
  }),
  change("the agent's fallback gets a delegate", AGENT_FALLBACK, { delegate: STRANGER }),
  change("the merchant's account is frozen", MERCHANT_TOKENS, { frozen: true }),
  change("the merchant gives the account away", MERCHANT_TOKENS, { holder: STRANGER }),
  change("the merchant's fallback gets a close authority", MERCHANT_FALLBACK, {
    closeAuthority: STRANGER,
  }),
];

const taken = (world: World, ...sent: Sent): World => {
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
    .set(STRANGER_TOKENS, tokenAccount(STRANGER, 0n));
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

/** The parties whose rights the promises protect. */
export const PARTIES = {
  merchant: MERCHANT,
  agentPlaces: [AGENT_TOKENS, AGENT_FALLBACK],
  merchantPlaces: [MERCHANT_TOKENS, MERCHANT_FALLBACK],
} as const;
