import { connect } from "../../../client/connect.ts";
import { keySigner } from "../../../client/node/key-file.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import { address } from "../../../core/domain/address.ts";
import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { parseReceiptHeader, RECEIPT_HEADER } from "../../../core/protocol/calls/call-receipt.ts";
import { VOUCHER_HEADER, voucherHeader } from "../../../core/protocol/calls/call-voucher.ts";
import { contradictionOf } from "../../../core/protocol/calls/equivocation.ts";
import { isVoucherSigned, receiptFault } from "../../../core/protocol/calls/judge-call.ts";
import { type SessionHead, tallyOf } from "../../../core/protocol/calls/session-head.ts";
import { NO_CALLS } from "../../../core/protocol/calls/session-tally.ts";
import { sessionTerms } from "../../../core/protocol/calls/session-terms.ts";
import { seededRandom } from "../../arbitraries/seeded-random.ts";
import { MERCHANT, MINT } from "../../pays-once/stand.ts";
import {
  type HostileMessage,
  type HostileSession,
  honestMessage,
  hostileMessage,
  vouchedBy,
} from "../hostile-vouchers.ts";
import { type Battery, openCase, type OpenCase } from "../open-case.ts";
import type { Outcome } from "./outcome.ts";

/** An honest call comes after this number of hostile messages, and must be taken. */
const HONEST_EVERY = 100;
/** Statuses by which an HTTP server refuses a request before the seller sees it. */
const OF_THE_SERVER: ReadonlySet<number> = new Set([400, 413, 414, 431]);

/** Opens a session whose key is in the hands of the case. */
const hostileSession = async (
  { stand }: Battery,
  played: OpenCase,
  budget: string,
): Promise<HostileSession> => {
  const journal = memorySessionJournal();
  const client = connect(stand.url(), { trust: stand.trust, rpc: stand.rpc() });
  const { escrow } = await client.session({
    merchant: MERCHANT.address,
    mint: MINT,
    budget,
    ttl: 3600,
    signer: keySigner(played.agent.seed),
    journal,
  });
  const terms = sessionTerms(await stand.escrow(address(escrow)), policyIn(stand.trust));
  const { opening } = await journal.state();
  const seed = decodeBase64(opening?.seed ?? "");
  if (terms === null || seed === undefined) throw new Error("the session has no key");
  return { terms, seed, origin: played.proxy.url, price: played.limit };
};

/** Sends messages to a seller, and says whatever it must not do. */
const attack = async (
  played: OpenCase,
  session: HostileSession,
  messages: number,
  random: () => number,
) => {
  let tally = NO_CALLS;
  let heads: ReadonlyArray<SessionHead> = [];
  const refusals = new Map<string, number>();

  const fault = ({ what, method, target, headers }: HostileMessage, says: string) =>
    played.faults.push(`${what}: ${says}; ${method} ${target} ${JSON.stringify(headers)}`);

  const send = async (message: HostileMessage): Promise<void> => {
    const { method, target, headers, body, voucher, order } = message;
    const answer = await fetch(played.sellerUrl() + target, {
      method,
      headers,
      redirect: "manual",
      ...(body.length === 0 ? {} : { body }),
    });
    const text = await answer.text();
    const header = answer.headers.get(RECEIPT_HEADER);
    if (header === null) {
      const isNamed = answer.headers.get("content-type")?.startsWith("application/problem+json");
      const code = isNamed === true ? (JSON.parse(text) as { readonly code?: string }).code : null;
      const isFree = method === "HEAD" || method === "OPTIONS";
      const isOffer = answer.status === 402 && answer.headers.has("payment-required");
      const name = code ?? (isFree ? "free" : isOffer ? "offer" : `status ${answer.status}`);
      refusals.set(name, (refusals.get(name) ?? 0) + 1);
      if (answer.status < 400 && !isFree) fault(message, `was answered ${answer.status}: ${text}`);
      else if (typeof code !== "string" && !isFree && !isOffer && !OF_THE_SERVER.has(answer.status))
        fault(message, `was refused without a name: ${answer.status} ${text}`);
      if (answer.status === 500) fault(message, `made the seller fail: ${text}`);
      return;
    }
    const receipt = parseReceiptHeader(header);
    if (receipt === undefined) return void fault(message, "got a receipt without form");
    const { delivery, attestation } = receipt;
    for (const one of heads)
      if (contradictionOf(one.receipt.attestation, attestation) !== undefined)
        fault(message, `got a second history at count ${attestation.count}`);
    const isAgain = heads.at(-1)?.receipt.attestation.deliveries === attestation.deliveries;
    if (isAgain) return void refusals.set("given again", (refusals.get("given again") ?? 0) + 1);
    if (voucher === null || order === null)
      return void fault(message, "got a receipt for what is no order");
    const wrong = receiptFault(session.terms, tally, order, receipt, delivery.proofHash);
    if (wrong !== undefined) return void fault(message, `got a receipt: ${wrong.code}`);
    if (!isVoucherSigned(session.terms, voucher) || attestation.total > voucher.total)
      return void fault(message, "got a receipt that no voucher covers");
    const head = { voucher, receipt, before: tally };
    // Enough to look back at; all of them would be compared with each receipt.
    heads = [...heads, head].slice(-16);
    tally = tallyOf(head);
  };

  for (let sent = 0; sent < messages; sent++) {
    if (sent % HONEST_EVERY === HONEST_EVERY - 1) {
      const { count } = tally;
      await send(honestMessage(session, tally, random));
      if (tally.count !== count + 1)
        played.faults.push(`the honest call ${count + 1} was not taken`);
    } else await send(hostileMessage(session, tally, heads, random));
    if (played.faults.length > 5) break;
  }
  return { tally, refusals };
};

/** A hostile agent sends messages; then its session ends by an honest closing, and the ledger shows the sum. */
const hostileAgent =
  (battery: Battery, n: number, messages: number) => async (): Promise<Outcome> => {
    const name = `messages ${n}: ${messages} of a hostile agent`;
    const budget = "5.00";
    const played = await openCase(battery, name, { calls: 0, price: "0.001", budget });
    try {
      await played.startSellers();
      const session = await hostileSession(battery, played, budget);
      const { tally, refusals } = await attack(
        played,
        session,
        messages,
        seededRandom(battery.seed + n),
      );
      const { orders, total, count } = tally;
      const closing = {
        orders,
        total,
        count,
        isClosing: true,
        limit: 0n,
        nonce: new Uint8Array(16),
      };
      const ended = await fetch(`${played.sellerUrl()}/quotes/1`, {
        headers: { [VOUCHER_HEADER]: voucherHeader(vouchedBy(session, closing)) },
      });
      if (ended.status !== 200) played.faults.push(`the closing got ${await ended.text()}`);
      await played.stopSellers();
      const { released } = await battery.stand.escrow(session.terms.escrow);
      if (released !== total) played.faults.push(`${released} were taken of ${total} attested`);
      const named = [...refusals].map(([code, times]) => `${code} ${times}`).join(", ");
      return {
        name: `${name}; ${count} calls; ${named}`,
        faults: played.faults,
        said: played.said,
      };
    } finally {
      await played.stop();
    }
  };

/** Hostile messages to a seller, in four sessions. */
export const hostileAgentCases = (
  battery: Battery,
  messages: number,
): ReadonlyArray<() => Promise<Outcome>> =>
  [0, 1, 2, 3].map((n) => hostileAgent(battery, n, Math.ceil(messages / 4)));
