import type { Address } from "../../../../../core/domain/address.ts";
import type { Escrow } from "../../../../../core/domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../../../../core/domain/ledger/account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../../core/protocol/addresses/local-deployment.ts";
import { tombstoneOf } from "../../../../doubles/tombstone.ts";
import { encodeEscrowAccount } from "../../../../../core/protocol/accounts/escrow-account.ts";
import { encodeMerchantAccount } from "../../../../../core/protocol/accounts/merchant-account.ts";
import { hash32FromBytes } from "../../../../../core/domain/hash32.ts";
import { type Instruction, readonly } from "../../../../../core/domain/ledger/instruction.ts";
import { RELAY_POLICY } from "../../../../../core/domain/relay/relay-policy.ts";
import type { SettlementRule } from "../../../../../core/domain/relay/settlement-rule.ts";
import { associatedTokenAddress } from "../../../../../core/protocol/addresses/addresses.ts";
import { CLOCK_SYSVAR } from "../../../../../core/protocol/addresses/well-known-addresses.ts";
import { MINT } from "../../../../adapters/http/support/parties.ts";
import type { Exchange } from "../../exchange.ts";
import { clockAt } from "../../world/conditions.ts";
import { FULFILLED, LARGEST, PENDING, SESSION } from "../../world/escrows.ts";
import { LEDGER_TIME } from "../../world/fixed-clock.ts";
import { SHARED_TOKENS } from "../../world/ledger-accounts.ts";
import {
  AGENT,
  ATTESTOR,
  FORMER_ATTESTOR,
  MERCHANT,
  MERCHANT_WALLET,
  OTHER_AGENT,
  STRANGER,
  SUSPENDED,
} from "../../world/parties.ts";
import {
  archive,
  attest,
  cancel,
  capture,
  close,
  create,
  prove,
  refund,
  registerUnusable,
  release,
  returnRent,
} from "../../world/settlements.ts";
import { relayed } from "../../world/transactions.ts";
import { relay } from "./relay.ts";

const withData = (instruction: Instruction, ...data: ReadonlyArray<number>): Instruction => ({
  ...instruction,
  data: Uint8Array.from(data),
});
const withByte = (instruction: Instruction, place: number, byte: number): Instruction => ({
  ...instruction,
  data: instruction.data.with(place, byte),
});
const withAccount = (instruction: Instruction, place: number, address: Address): Instruction => ({
  ...instruction,
  accounts: instruction.accounts.map((meta, i) => (i === place ? { ...meta, address } : meta)),
});
const withAccounts = ({ accounts, ...rest }: Instruction, count: number): Instruction => ({
  ...rest,
  accounts: Array.from({ length: count }, (_, i) => accounts[i] ?? readonly(STRANGER.address)),
});

const strangersHash = hash32FromBytes(new Uint8Array(32).fill(9));
const agentTokens = associatedTokenAddress(AGENT.address, MINT);
const otherAgentsTokens = associatedTokenAddress(OTHER_AGENT.address, MINT);
const lastExpiry = LARGEST.expiresAt;
const archivableAt = (FULFILLED.settledAt ?? 0n) + 604_800n;
/** The refund of the escrow whose agent's associated account is frozen, into another one. */
const refundInto = (account: Address) => [refund(LARGEST, account)];
const beforeEscrow = PENDING.createdAt - 1n;
const inAMinute = LEDGER_TIME + 60n;

/** The indexes of accounts; see docs/protocol.md, "custody". */
const ESCROW = 0;
const VAULT = 1;
const MERCHANT_TOKENS = 3;
const CREATED_ESCROW = 5;

type Case = {
  readonly of: string;
  readonly instructions: ReadonlyArray<Instruction>;
  /** The ledger's clock, Unix seconds. */
  readonly at?: bigint;
  /** Accounts that the ledger holds in this case alone. */
  readonly holds?: ReadonlyArray<LedgerAccount>;
};

/** What is left of the fulfilled escrow once it is archived. */
const TOMBSTONE: LedgerAccount = {
  address: FULFILLED.address,
  owner: LOCAL_DEPLOYMENT.custodyProgram,
  lamports: 1n,
  executable: false,
  data: tombstoneOf(FULFILLED),
};

/** The merchant once it has revoked the attestor of every escrow there is. */
const REVOKED: LedgerAccount = {
  ...TOMBSTONE,
  address: MERCHANT.address,
  owner: LOCAL_DEPLOYMENT.attestorProgram,
  data: encodeMerchantAccount({ ...MERCHANT, revokedSeq: 1_000n }),
};

/** The session's account after something happened to it. */
const sessionWith = (change: Partial<Escrow>): LedgerAccount => ({
  ...TOMBSTONE,
  address: SESSION.address,
  data: encodeEscrowAccount({ ...SESSION, ...change }),
});

/** For each rule, the settlements that it refuses. */
const REFUSED: Readonly<Record<SettlementRule, ReadonlyArray<Case>>> = {
  unknown_instruction: [
    { of: "data of no instruction", instructions: [withData(refund(), 1, 2, 3)] },
  ],
  wrong_account_count: [
    { of: "an account too few", instructions: [withAccounts(refund(), 5)] },
    { of: "more accounts than the program reads", instructions: [withAccounts(refund(), 33)] },
  ],
  wrong_account: [
    { of: "another vault", instructions: [withAccount(refund(), VAULT, STRANGER.address)] },
    {
      of: "an escrow of another task",
      instructions: [withAccount(create(), CREATED_ESCROW, STRANGER.address)],
    },
  ],
  not_an_escrow: [
    {
      of: "a merchant account",
      instructions: [attest(), withAccount(release(), ESCROW, MERCHANT.address)],
    },
  ],
  not_pending: [
    { of: "a second settlement", instructions: [cancel(FULFILLED)] },
    { of: "the second of two settlements", instructions: [refund(), cancel(FULFILLED)] },
  ],
  expired: [
    {
      of: "a release in the second of expiry",
      instructions: [attest(), release()],
      at: PENDING.expiresAt,
    },
  ],
  not_expired: [{ of: "a refund before expiry", instructions: [refund(PENDING)] }],
  amount_out_of_range: [
    {
      of: "a total above the amount",
      instructions: [attest({ total: PENDING.amount + 1n }), release()],
    },
    { of: "an escrow of nothing", instructions: [create({ amount: 0n })] },
  ],
  ttl_out_of_range: [
    { of: "a second more than seven days", instructions: [create({ ttlSeconds: 604_801 })] },
  ],
  payout_account_wrong_owner: [
    {
      of: "a fallback of the agent's for the other agent",
      instructions: refundInto(agentTokens),
      at: lastExpiry,
    },
    {
      of: "a fallback that is no token account",
      instructions: refundInto(SUSPENDED.address),
      at: lastExpiry,
    },
  ],
  payout_account_wrong_mint: [
    {
      of: "a fallback of another mint",
      instructions: refundInto(otherAgentsTokens),
      at: lastExpiry,
    },
  ],
  payout_account_shared: [
    {
      of: "a fallback with a delegate",
      instructions: refundInto(SHARED_TOKENS.address),
      at: lastExpiry,
    },
  ],
  payout_account_not_associated: [
    {
      of: "the agent's token account for the merchant",
      instructions: [attest(), withAccount(release(), MERCHANT_TOKENS, agentTokens)],
    },
    { of: "another bump", instructions: [withByte(refund(), 8, 0)] },
  ],
  payout_account_unusable: [
    {
      of: "a frozen associated account, and no fallback",
      instructions: [refund(LARGEST)],
      at: lastExpiry,
    },
  ],
  attestor_changed: [
    { of: "another attestor", instructions: [create({ attestor: STRANGER.address })] },
  ],
  attestor_revoked: [
    { of: "a key that was revoked", instructions: [attest(), release()], holds: [REVOKED] },
  ],
  attestor_unusable: [{ of: "a key of small order", instructions: [registerUnusable()] }],
  escrow_archived: [
    { of: "a second settlement", instructions: [cancel(FULFILLED)], holds: [TOMBSTONE] },
  ],
  not_settled: [{ of: "a Pending escrow", instructions: [archive(PENDING)] }],
  not_archivable: [{ of: "within seven days", instructions: [archive(FULFILLED)] }],
  not_session: [{ of: "the closing of a single payment", instructions: [close(PENDING)] }],
  session_closing: [
    {
      of: "a second closing",
      instructions: [close(SESSION)],
      holds: [sessionWith({ closesAt: SESSION.expiresAt })],
    },
  ],
  voucher_missing: [
    {
      of: "an attestation alone",
      instructions: [attest({ isFinal: false }, ATTESTOR, SESSION), capture()],
    },
  ],
  voucher_signature_invalid: [
    { of: "a changed voucher", instructions: [withByte(prove(), 160, 3), capture()] },
  ],
  wrong_session_key: [
    { of: "a stranger's voucher", instructions: [prove({}, STRANGER), capture()] },
  ],
  wrong_voucher: [
    { of: "a smaller voucher", instructions: [prove({ total: 1n }), capture()] },
    {
      of: "a release without the closing voucher",
      instructions: [prove({}, undefined, true), release(SESSION)],
    },
  ],
  deliveries_fall: [
    {
      of: "fewer deliveries than before",
      instructions: [prove(), capture()],
      holds: [sessionWith({ released: 1n, deliveries: 4, attestation: FULFILLED.attestation })],
    },
  ],
  last_bytes_differ: [
    {
      of: "another last byte",
      instructions: [withByte(archive(FULFILLED), 375, 0xff)],
      at: archivableAt,
    },
  ],
  ed25519_missing: [{ of: "no attestation", instructions: [release()] }],
  ed25519_misplaced: [
    { of: "the attestation behind the release", instructions: [release(), attest()] },
  ],
  ed25519_malformed: [
    { of: "an attestation of two bytes", instructions: [withData(attest(), 0, 0), release()] },
  ],
  ed25519_points_elsewhere: [
    {
      of: "a message in another instruction",
      instructions: [withByte(withByte(attest(), 14, 0), 15, 0), release()],
    },
  ],
  attestation_signature_invalid: [
    {
      of: "a changed signature",
      instructions: [withByte(withByte(attest(), 50, 1), 51, 2), release()],
    },
  ],
  wrong_attestor_key: [
    { of: "a stranger's key", instructions: [attest({}, STRANGER), release()] },
    {
      of: "the key before a rotation",
      instructions: [attest({}, FORMER_ATTESTOR, LARGEST), release(LARGEST)],
    },
  ],
  terms_differ: [
    {
      of: "the attestation of another ledger",
      instructions: [attest({ domain: strangersHash }), release()],
    },
    {
      of: "the attestation of another escrow",
      instructions: [attest({}, ATTESTOR, LARGEST), release()],
    },
  ],
  message_differs: [
    {
      of: "an attestation that is not final",
      instructions: [attest({ isFinal: false }), release()],
    },
    {
      of: "two deliveries of a single payment",
      instructions: [attest({ deliveries: 2 }), release()],
    },
  ],
  attestation_stale: [
    { of: "320 s old", instructions: [attest(), release()], at: LEDGER_TIME + 320n },
  ],
  attestation_in_future: [
    {
      of: "a minute ahead",
      instructions: [attest({ timestamp: inAMinute }), release()],
    },
  ],
  attestation_outside_escrow: [
    {
      of: "older than the escrow",
      instructions: [attest({ timestamp: beforeEscrow }), release()],
    },
  ],
  escrow_address_taken: [
    { of: "the same task again", instructions: [create({ taskHash: PENDING.taskHash })] },
  ],
  merchant_unregistered: [
    { of: "a wallet without account", instructions: [create({ merchant: STRANGER.address })] },
  ],
  merchant_suspended: [
    { of: "a suspended merchant", instructions: [create({ merchant: SUSPENDED.wallet })] },
  ],
};

/** Rules that the relay checks twice, because a pending transaction may change the result. */
const CHECKED_TWICE: ReadonlySet<string> = new Set([
  "merchant_unregistered",
  "merchant_suspended",
  "payout_account_wrong_owner",
  "payout_account_wrong_mint",
  "payout_account_shared",
  "payout_account_unusable",
  "attestor_changed",
] satisfies ReadonlyArray<SettlementRule>);
const SECOND_LOOK = { forMs: RELAY_POLICY.secondLookMs, passMs: RELAY_POLICY.secondLookMs };

const settle = (
  title: string,
  instructions: ReadonlyArray<Instruction>,
  more: Partial<Exchange> = {},
) => {
  const signers = [AGENT, MERCHANT_WALLET].filter((wallet) =>
    instructions.some(({ accounts }) =>
      accounts.some(({ address, role }) => address === wallet.address && role > 1),
    ),
  );
  return relay(title, relayed(title, instructions, ...signers), more);
};

/** What the relay answers to valid settlements, and to settlements that each rule refuses. */
export const settlementExchanges: ReadonlyArray<Exchange> = [
  settle("a new escrow", [create()]),
  settle("a release", [attest(), release()]),
  settle("a partial release", [attest({ total: 2n }), release()]),
  settle("a refund", [refund()]),
  settle("a capture", [prove(), capture()]),
  settle("the closing of a session", [close(SESSION)]),
  settle("the return of a settled escrow's rent", [returnRent(FULFILLED)]),
  settle("the archiving of an escrow settled a week ago", [archive(FULFILLED)], {
    given: clockAt(archivableAt),
  }),
  settle("a refund that is too early, without the ledger's clock", [refund(PENDING)], {
    given: ({ ledger }) => ledger.vanish(CLOCK_SYSVAR),
  }),
  ...Object.entries(REFUSED).flatMap(([rule, cases]) =>
    cases.map(({ of, instructions, at, holds = [] }) =>
      settle(`${rule}: ${of}`, instructions, {
        given: (world) => {
          if (at !== undefined) clockAt(at)(world);
          for (const account of holds) world.ledger.put(account);
        },
        ...(CHECKED_TWICE.has(rule) ? { waits: SECOND_LOOK } : {}),
      }),
    ),
  ),
];
