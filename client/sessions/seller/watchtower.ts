import type { Address } from "../../../core/domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import {
  callAttestationBytes,
  readCallAttestation,
} from "../../../core/protocol/calls/call-receipt.ts";
import { callVoucherBytes, readCallVoucher } from "../../../core/protocol/calls/call-voucher.ts";
import { isAttestationSigned, isVoucherSigned } from "../../../core/protocol/calls/judge-call.ts";
import { readSessionHead, sessionHeadBytes } from "../../../core/protocol/calls/session-head.ts";
import { sessionTerms } from "../../../core/protocol/calls/session-terms.ts";
import { addressNamed, policyIn } from "../../pinned-policy.ts";
import type { Fetch } from "../../service/fetch-directly.ts";
import { ledgerNodes } from "../../service/ledger-nodes.ts";
import { type ClientClock, requestsTo, systemClock } from "../../service/requests.ts";
import { messageSignerOf, type SellerKey } from "../../signing/sign-transaction.ts";
import { SettlementError } from "../../settlement-error.ts";
import { captures } from "./captures.ts";
import { ledgerLooks, MOST_AT_ONCE } from "./ledger-looks.ts";
import type { KeptSession, SessionStore, StoredSession } from "../store/session-store.ts";

/** What a watchtower is given of a session: nothing in it is secret, and only the merchant can be paid by it. */
type SessionHeadLine = {
  readonly escrow: string;
  /** `sessionHeadBytes` of the newest record, base64. */
  readonly head: string;
  /** The closing voucher's bytes, base64; null while the session goes on. */
  readonly closing: string | null;
  /** The final attestation's bytes, base64; null before the closing. */
  readonly final: string | null;
};

const base64Of = (bytes: Uint8Array | null): string | null => bytes && encodeBase64(bytes);

/** The lines of JSON for a watchtower: one for each session of a store that is not ended and has calls. */
export const sessionHeads = async (
  store: Pick<SessionStore, "unfinished" | "find">,
): Promise<string> => {
  const lines: Array<string> = [];
  for (const { escrow } of await store.unfinished()) {
    const stored = await store.find(escrow);
    if (stored === null || stored.newest === null) continue;
    const line: SessionHeadLine = {
      escrow,
      head: encodeBase64(sessionHeadBytes(stored.newest)),
      closing: base64Of(stored.closing && callVoucherBytes(stored.closing)),
      final: base64Of(stored.final && callAttestationBytes(stored.final)),
    };
    lines.push(`${JSON.stringify(line)}\n`);
  }
  return lines.join("");
};

const invalid = (place: number, why: string): never => {
  throw new SettlementError(
    "invalid_heads",
    `Line ${place} is no session's: ${why}.`,
    "Give the file as the seller wrote it.",
  );
};

const isText = (value: unknown): value is string => typeof value === "string";

/** The lines of a file of heads. @throws SettlementError `invalid_heads` */
const headLines = (text: string): ReadonlyArray<SessionHeadLine> =>
  text.split("\n").flatMap((line, at) => {
    if (line.trim() === "") return [];
    const parsed = ((): Partial<Record<keyof SessionHeadLine, unknown>> => {
      try {
        return (JSON.parse(line) ?? {}) as object;
      } catch {
        return invalid(at + 1, "it is no JSON");
      }
    })();
    const { escrow, head, closing = null, final = null } = parsed;
    const isGood =
      isText(head) && (closing === null || isText(closing)) && (final === null || isText(final));
    return isGood
      ? [{ escrow: addressNamed(escrow, "heads"), head, closing, final }]
      : invalid(at + 1, "a member has another form");
  });

/**
 * A session by its line and its account on the ledger; undefined unless every signature in it is of this session's keys.
 */
const storedOf = (
  line: SessionHeadLine,
  escrow: Escrow,
  policy: TrustPolicy,
): StoredSession | undefined => {
  const terms = sessionTerms(escrow, policy);
  if (terms === null) return undefined;
  const newest = readSessionHead(terms, decodeBase64(line.head) ?? new Uint8Array());
  const closing =
    line.closing === null ? null : readCallVoucher(decodeBase64(line.closing) ?? new Uint8Array());
  const final =
    line.final === null ? null : readCallAttestation(decodeBase64(line.final) ?? new Uint8Array());
  if (newest === undefined || closing === undefined || final === undefined) return undefined;
  if (closing !== null && !(closing.isClosing && isVoucherSigned(terms, closing))) return undefined;
  if (final !== null && !(final.isFinal && isAttestationSigned(terms, final))) return undefined;
  const { mint, createdAt, expiresAt } = escrow;
  const session = { ...terms, network: policy.genesisHash, mint, createdAt, expiresAt };
  return { session, newest, closing, final, staged: null, isRestored: false };
};

/** The sessions of a file of heads, as captures read a store. */
type WatchedSessions = Pick<SessionStore, "unfinished" | "find" | "finish" | "end"> & {
  /** Takes the lines of a newer file. */
  readonly update: (lines: ReadonlyArray<SessionHeadLine>) => void;
};

/**
 * Sessions by lines of heads. Each is looked up once on the ledger; what does not fit its account is told and passed
 * over, and so is one that is not there.
 */
const watchedSessions = (
  policy: TrustPolicy,
  look: (escrows: ReadonlyArray<Address>) => Promise<ReadonlyMap<Address, Escrow | null>>,
  onUnsound: (escrow: Address) => void,
): WatchedSessions => {
  const lines = new Map<Address, SessionHeadLine>();
  const accounts = new Map<Address, Escrow>();
  const ended = new Set<Address>();
  const told = new Set<string>();

  const stored = (escrow: Address): StoredSession | null => {
    const [line, account] = [lines.get(escrow), accounts.get(escrow)];
    if (line === undefined || account === undefined) return null;
    const found = storedOf(line, account, policy);
    if (found !== undefined) return found;
    if (!told.has(line.head)) onUnsound(escrow);
    told.add(line.head);
    return null;
  };

  return {
    update: (newer) => {
      lines.clear();
      for (const line of newer) lines.set(addressNamed(line.escrow, "heads"), line);
    },
    unfinished: async () => {
      const open = [...lines.keys()].filter((escrow) => !ended.has(escrow));
      const unseen = open.filter((escrow) => !accounts.has(escrow));
      for (const [escrow, account] of await look(unseen))
        if (account !== null) accounts.set(escrow, account);
      return open.flatMap((escrow): ReadonlyArray<KeptSession> => {
        const found = stored(escrow);
        return found === null ? [] : [found.session];
      });
    },
    find: (escrow) => Promise.resolve(stored(escrow)),
    finish: () => Promise.resolve(),
    end: (escrow) => {
      ended.add(escrow);
      accounts.delete(escrow);
      return Promise.resolve();
    },
  };
};

/** What a watchtower is set up with. */
export type WatchtowerOptions = {
  /** The address of the service that prepares and relays. */
  readonly service: string;
  /** The trust document: its text, or the object that JSON makes of it. */
  readonly trust: string | object;
  /** Addresses of ledger nodes that you chose. */
  readonly rpc: string | ReadonlyArray<string>;
  /** Pays the fees. No other key is needed. */
  readonly payer: SellerKey;
  /** Told of each failure; it is tried again at the next round. */
  readonly onProblem: (problem: SettlementError, escrow: string) => void;
  readonly fetch?: Fetch;
  readonly clock?: ClientClock;
};

/** Captures for a seller that may be dead. */
export type Watchtower = {
  /**
   * One round over the lines of a file of heads: captures and releases what is due, or with `isForced` whatever is owed.
   * @throws SettlementError for a file that is none, when no node answers, and for the first forced capture that failed
   */
  readonly round: (heads: string, isForced?: boolean) => Promise<void>;
};

/**
 * Captures for anybody with vouchers and attestations, by a seller's own rules: a third of a budget, 15 minutes, an
 * agent's close, and the margin before the end. @throws SettlementError for a wrong option
 */
export const watchtower = (options: WatchtowerOptions): Watchtower => {
  const { fetch, clock = systemClock, onProblem } = options;
  const policy = policyIn(options.trust);
  const nodes = ledgerNodes(options.rpc, (url) => requestsTo(url, fetch, clock));
  const lookAt = ledgerLooks(nodes, policy, null, clock);
  let time: { readonly ledgerMs: number; readonly atMs: number } | null = null;
  const look = async (
    escrows: ReadonlyArray<Address>,
  ): Promise<ReadonlyMap<Address, Escrow | null>> => {
    const all = new Map<Address, Escrow | null>();
    for (let at = 0; at < escrows.length; at += MOST_AT_ONCE) {
      const atMs = clock.nowMs();
      const { seen, ledgerTime } = await lookAt(escrows.slice(at, at + MOST_AT_ONCE));
      time = { ledgerMs: Number(ledgerTime) * 1000, atMs };
      for (const [escrow, each] of seen) all.set(escrow, each?.escrow ?? null);
    }
    return all;
  };
  const store = watchedSessions(policy, look, (escrow) =>
    onProblem(
      new SettlementError(
        "invalid_heads",
        `The line of ${escrow} has a signature that is not of this session's keys.`,
        "Give the file as the seller wrote it.",
      ),
      escrow,
    ),
  );
  const settling = captures({
    requests: requestsTo(options.service, fetch, clock),
    policy,
    payer: messageSignerOf(options.payer),
    store,
    view: {
      look,
      refresh: look,
      nowMs: () => (time === null ? clock.nowMs() : time.ledgerMs + (clock.nowMs() - time.atMs)),
    },
    clock,
    attestFinal: null,
    worth: 0n,
    onProblem,
  });
  return {
    round: async (heads, isForced = false) => {
      store.update(headLines(heads));
      await (isForced ? settling.captureAll() : settling.round());
    },
  };
};
