import type { Address } from "../../../core/domain/address.ts";
import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import type { Merchant } from "../../../core/domain/merchant/merchant.ts";
import type { UnixSeconds } from "../../../core/domain/unix-time.ts";
import { decodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import { decodeMerchantAccount } from "../../../core/protocol/accounts/merchant-account.ts";
import { decodeClockSysvar } from "../../../core/protocol/accounts/sysvars.ts";
import { decodeTokenAccount, type TokenAccount } from "../../../core/protocol/accounts/token.ts";
import {
  associatedTokenAddress,
  merchantAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import { CLOCK_SYSVAR } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { deploymentIn } from "../../pay/payment-terms.ts";
import {
  accountIn,
  type LedgerNode,
  nodeUnusable,
  requireLedger,
  resultOf,
  type ShownAccount,
} from "../../service/ledger-nodes.ts";
import type { ClientClock } from "../../service/requests.ts";
import { SettlementError } from "../../settlement-error.ts";

/** What stands at an escrow's address: null for nothing, for a tombstone, and for an account that is no escrow. */
export type SeenEscrow = {
  readonly escrow: Escrow;
  /** Its vault; undefined where there is none, as after a settlement. */
  readonly vault: TokenAccount | undefined;
} | null;

/** Escrows at one moment of the finalized ledger. */
export type LedgerLook = {
  readonly slot: number;
  /** The ledger's own time then. */
  readonly ledgerTime: UnixSeconds;
  readonly seen: ReadonlyMap<Address, SeenEscrow>;
  /** The merchant that was asked for; null where none is registered, undefined where none was asked for. */
  readonly merchant: Merchant | null | undefined;
};

/** Looks at these escrows. @throws SettlementError `node_unusable` when no node gives an answer that decides. */
export type LookAt = (escrows: ReadonlyArray<Address>) => Promise<LedgerLook>;

/**
 * The most escrows of one read: two accounts for each, one for the time and one for the merchant (Agave
 * `MAX_MULTIPLE_ACCOUNTS`, 100).
 */
export const MOST_AT_ONCE = 49;
/** How long one node has for its answer. */
const LOOK_MS = 10_000;
/** How long the time of a node that works can stand still, in milliseconds: finality takes a few seconds. */
const STILL_MS = 90_000;
/** How far the machines behind one address, and several nodes, may be apart, in slots: half a minute. */
const MOST_BEHIND = 64;

type Read = { readonly slot: number; readonly accounts: ReadonlyArray<ShownAccount | null> };

/** The finalized accounts at these addresses, all of one slot. @throws SettlementError `node_unusable` */
const accountsAt = async (
  node: LedgerNode,
  addresses: ReadonlyArray<Address>,
  signal: AbortSignal,
): Promise<Read> => {
  const options = { encoding: "base64", commitment: "finalized" };
  const result = await resultOf(node, "getMultipleAccounts", [addresses, options], signal);
  const { context, value } = (result ?? {}) as {
    readonly context?: { readonly slot?: unknown };
    readonly value?: unknown;
  };
  const slot = context?.slot;
  if (typeof slot !== "number" || !Array.isArray(value) || value.length !== addresses.length)
    throw nodeUnusable("it shows other accounts than were asked for");
  return { slot, accounts: value.map(accountIn) };
};

/**
 * Looks at escrows by the caller's own nodes, in their order until one gives an answer. A node is passed over while it
 * is of another ledger, behind what was seen before, or its time stands still: it could hide that an agent has closed
 * its session. With `taken` the vaults in its mint and the merchant of its wallet are looked at too.
 */
export const ledgerLooks = (
  nodes: ReadonlyArray<LedgerNode>,
  policy: TrustPolicy,
  taken: { readonly mint: Address; readonly merchant: Address } | null,
  clock: ClientClock,
): LookAt => {
  const deployment = deploymentIn(policy);
  const merchantAt = taken && merchantAddress(deployment, taken.merchant).address;
  const ours = new WeakSet<LedgerNode>();
  let newest = { slot: 0, ledgerTime: 0n, atMs: 0 };

  const merchantIn = (account: ShownAccount | null): Merchant | null | undefined => {
    if (merchantAt === null) return undefined;
    const decoded =
      account && decodeMerchantAccount({ ...account, address: merchantAt }, deployment);
    return decoded === null || "fault" in decoded ? null : decoded.value;
  };

  const lookBy = async (
    node: LedgerNode,
    escrows: ReadonlyArray<Address>,
    signal: AbortSignal,
  ): Promise<LedgerLook> => {
    if (!ours.has(node)) {
      await requireLedger(node, policy.genesisHash, signal);
      ours.add(node);
    }
    const vaults =
      taken === null ? [] : escrows.map((escrow) => associatedTokenAddress(escrow, taken.mint));
    const before = newest.slot;
    const merchants = merchantAt === null ? [] : [merchantAt];
    const asked = [CLOCK_SYSVAR, ...escrows, ...vaults, ...merchants];
    const { slot, accounts } = await accountsAt(node, asked, signal);
    const [time] = accounts;
    const ledgerTime = decodeClockSysvar(time ?? null);
    if (ledgerTime === undefined) throw nodeUnusable("it shows no time of the ledger");
    if (slot + MOST_BEHIND < before) throw nodeUnusable(`it is behind: at slot ${slot}`);
    const nowMs = clock.nowMs();
    if (ledgerTime > newest.ledgerTime) newest = { slot, ledgerTime, atMs: nowMs };
    else if (nowMs - newest.atMs > STILL_MS) throw nodeUnusable(`it stands still at slot ${slot}`);
    const seen = new Map(
      escrows.map((address, i): [Address, SeenEscrow] => {
        const account = accounts[1 + i] ?? null;
        const decoded = account && decodeEscrowAccount({ ...account, address }, deployment);
        if (decoded === null || "fault" in decoded) return [address, null];
        const vault = accounts[1 + escrows.length + i];
        return [
          address,
          { escrow: decoded.value, vault: vault ? decodeTokenAccount(vault) : undefined },
        ];
      }),
    );
    return { slot, ledgerTime, seen, merchant: merchantIn(accounts.at(-1) ?? null) };
  };

  /** One node's answer within its time. */
  const inTime = async (node: LedgerNode, escrows: ReadonlyArray<Address>): Promise<LedgerLook> => {
    const late = new AbortController();
    const over = new AbortController();
    clock.pause(LOOK_MS, over.signal).then(
      () => late.abort(nodeUnusable(`it does not answer within ${LOOK_MS} ms`)),
      () => undefined,
    );
    try {
      return await lookBy(node, escrows, late.signal);
    } finally {
      over.abort();
    }
  };

  return async (escrows) => {
    const reasons: Array<string> = [];
    for (const node of nodes)
      try {
        return await inTime(node, escrows);
      } catch (cause) {
        if (!(cause instanceof SettlementError) || cause.code !== "node_unusable") throw cause;
        reasons.push(`${node.host}: ${cause.message}`);
      }
    throw nodeUnusable(`No node gives an answer that decides. ${reasons.join("; ")}.`);
  };
};
