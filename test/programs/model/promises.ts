import { type Address, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { fieldsOf } from "../../../core/protocol/accounts/byte-fields.ts";
import { TOKEN_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import type { Sent } from "./call.ts";
import {
  type Accounts,
  ESCROW,
  type Passed,
  sha256,
  stateOf,
  TOMBSTONE,
  brokenLog,
} from "./promised-log.ts";

// Rules that must hold independently of the model. They are checked on the ledger's bytes before and after a
// transaction, at the offsets of docs/protocol.md.

/** Where captures, `close_session` and settlements write: place and length. */
const CHANGED = [
  [10, 1],
  [12, 4],
  [184, 8],
  [208, 8],
  [216, 32],
  [280, 8],
  [288, 64],
  [360, 8],
  [400, 1],
  [408, 8],
] as const;
const PENDING = 0;
const [RELEASED, REFUNDED, CANCELLED] = [1, 2, 3];

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** An escrow's bytes as its creation left them. */
const created = (data: Uint8Array): Uint8Array => {
  const bytes = data.slice();
  for (const [at, length] of CHANGED) bytes.fill(0, at, at + length);
  return bytes;
};

const escrowIn = (data: Uint8Array) => {
  const fields = fieldsOf(data);
  const [expires, closes] = [fields.i64(200), fields.i64(408)];
  return {
    state: fields.u8(10),
    deliveries: fields.u32(12),
    agent: fields.address(16),
    merchant: fields.address(48),
    mint: fields.address(80),
    rentPayer: fields.address(112),
    amount: fields.u64(176),
    released: fields.u64(184),
    expires,
    settledAt: fields.i64(208),
    proof: fields.bytes(216, 32),
    attestor: fields.address(248),
    attestedAt: fields.i64(280),
    signature: fields.bytes(288, 64),
    createdSeq: fields.u64(352),
    sessionKey: fields.address(368),
    settledBy: fields.u8(400),
    closes,
    end: closes === 0n ? expires : closes,
  };
};
type Fields = ReturnType<typeof escrowIn>;

const isToken = (account: LedgerAccount | undefined): account is LedgerAccount =>
  account?.owner === TOKEN_PROGRAM && account.data.length === 165;
const unitsOf = (account: LedgerAccount | undefined): bigint =>
  isToken(account) ? fieldsOf(account.data).u64(64) : 0n;
const holderOf = (account: LedgerAccount): Address => fieldsOf(account.data).address(32);
const isShared = ({ data }: LedgerAccount): boolean =>
  fieldsOf(data).u32(72) !== 0 || fieldsOf(data).u32(129) !== 0;

const signs = (sent: Sent, wallet: Address): boolean =>
  sent.some((each) =>
    each.sent.accounts.some(({ address, role }) => address === wallet && role >= 2),
  );

/** Whether a payment was signed for: the attestor over what the account now says, and a session's key over as much. */
const isAttested = ({ sent }: Passed, terms: Uint8Array, is: Fields): boolean => {
  const session = is.sessionKey !== ZERO_ADDRESS;
  const last = is.settledBy === RELEASED;
  const names = (message: Uint8Array, tag: string) =>
    same(message.slice(0, 8), new TextEncoder().encode(tag)) && same(message.slice(40, 72), terms);
  return sent.some((each) => {
    if (each.kind !== "ed25519" || !each.valid) return false;
    const attests = each.signed.some(({ key, message, signature }) => {
      if (key !== is.attestor || message.length !== 128 || !names(message, "attest 3"))
        return false;
      const m = fieldsOf(message);
      return (
        same(m.bytes(72, 32), is.proof) &&
        m.u64(104) === is.released &&
        m.i64(112) === is.attestedAt &&
        m.u32(120) === is.deliveries &&
        m.u32(124) === (last ? 1 : 0) &&
        same(signature, is.signature)
      );
    });
    const allows = each.signed.some(({ key, message }) => {
      if (key !== is.sessionKey || message.length !== 120 || !names(message, "voucher3"))
        return false;
      const [total, count, closing] = [104, 112, 116].map((at, i) =>
        i === 0 ? fieldsOf(message).u64(at) : BigInt(fieldsOf(message).u32(at)),
      ) as [bigint, bigint, bigint];
      return last
        ? total === is.released && count === BigInt(is.deliveries) && closing === 1n
        : total >= is.released && count >= BigInt(is.deliveries) && closing <= 1n;
    });
    return attests && (!session || allows);
  });
};

/** What is broken of one escrow's life, from one account to the next. */
const brokenLife = (
  passed: Passed,
  address: Address,
  before: Uint8Array,
  after: Uint8Array,
): ReadonlyArray<string> => {
  const broken: Array<string> = [];
  const promise = (holds: boolean, what: string) => {
    if (!holds) broken.push(`${address}: ${what}`);
  };
  if (before.length === TOMBSTONE || same(before, after)) {
    promise(same(before, after), "an archived escrow changed");
    return broken;
  }
  const was = escrowIn(before);
  if (after.length === TOMBSTONE) {
    promise(was.state !== PENDING, "archived while Pending");
    promise(passed.time >= was.settledAt + 604_800n, "archived within a week");
    promise(same(after.slice(64, 96), sha256(before)), "last_hash is not that of the last bytes");
    promise(same(after.slice(32, 64), sha256(created(before))), "pending_hash is not the terms");
    return broken;
  }
  const is = escrowIn(after);
  const { time, sent } = passed;
  promise(was.state === PENDING, "a byte changed after the settlement");
  promise(same(created(before), created(after)), "the terms changed");
  promise(is.released >= was.released && is.released <= is.amount, "released fell or is too much");
  promise(is.deliveries >= was.deliveries, "the deliveries fell");
  if (is.closes !== was.closes) {
    const soon = time + 900n;
    promise(was.closes === 0n && is.sessionKey !== ZERO_ADDRESS, "closed twice, or no session");
    promise(signs(sent, is.agent) && time < is.expires, "closed by another, or too late");
    promise(is.closes === (soon < is.expires ? soon : is.expires), "closes_at is another time");
  }
  if (is.released !== was.released || is.settledBy === RELEASED) {
    promise(time < is.end, "a payment after the end");
    promise(isAttested(passed, sha256(created(after)), is), "a payment that nobody attested");
    for (const { data } of passed.before.values())
      if (data.length === 208 && fieldsOf(data).address(16) === is.merchant)
        promise(is.createdSeq > fieldsOf(data).u64(200), "a payment of a revoked escrow");
  } else promise(same(was.proof, is.proof) && is.deliveries === was.deliveries, "unpaid, yet new");
  if (is.state === PENDING) {
    promise(is.settledBy === 0 && is.settledAt === 0n, "settled and Pending");
    return broken;
  }
  const right = is.released === 0n ? 2 : is.released === is.amount ? 1 : 3;
  promise(is.state === right, "the state is not what was released");
  promise(is.settledAt === time, "another time of settlement");
  if (is.settledBy === REFUNDED) promise(time >= is.end, "a refund before the end");
  else if (is.settledBy === CANCELLED)
    promise(time < is.end && signs(sent, is.merchant), "a cancellation by another, or too late");
  else promise(is.settledBy === RELEASED, "settled by nothing that there is");
  return broken;
};

/** The escrow's terms, before or after; of an archived one by the bytes that the transaction gives. */
const knownOf = ({ before, after, sent }: Passed, address: Address): Fields | undefined => {
  const account = [after.get(address), before.get(address)].find(
    (each) => each?.data.length === ESCROW,
  );
  if (account !== undefined) return escrowIn(account.data);
  for (const each of sent)
    if (each.kind === "call" && "lastBytes" in each.args && each.args.lastBytes.length === ESCROW)
      if (each.sent.accounts[0]?.address === address) return escrowIn(each.args.lastBytes);
  return undefined;
};

/** Who gets units and lamports: each change of a balance is one that an escrow of the transaction allows. */
const brokenPayments = (passed: Passed): ReadonlyArray<string> => {
  const { before, after, associatedOf, sent, rate } = passed;
  const broken: Array<string> = [];
  const escrows = [...after.keys()].flatMap((address) => {
    const held = stateOf(after.get(address)) ?? stateOf(before.get(address));
    const known = held === undefined ? undefined : knownOf(passed, address);
    return known === undefined ? [] : [{ address, known }];
  });
  const vaults = new Set(escrows.map(({ address, known }) => associatedOf(address, known.mint)));
  const gains = [...after.values()]
    .filter(({ address }) => !vaults.has(address))
    .map((account) => ({
      account,
      units: unitsOf(account) - unitsOf(before.get(account.address)),
    }));
  const named = new Set(sent.flatMap((each) => each.sent.accounts.map(({ address }) => address)));
  let [toMerchants, toAgents] = [0n, 0n];
  for (const { address, known } of escrows) {
    const old = before.get(address);
    const was = old?.data.length === ESCROW ? escrowIn(old.data) : undefined;
    const [vault, now] = [associatedOf(address, known.mint), after.get(address)];
    const out = unitsOf(before.get(vault)) - unitsOf(after.get(vault));
    if (stateOf(old) === undefined) {
      if (out !== -known.amount) broken.push("another amount came into the vault");
      toAgents -= known.amount;
      continue;
    }
    const settles = was?.state === PENDING && known.state !== PENDING;
    const paid = known.released - (was?.released ?? known.released);
    const whole = settles && known.settledBy === RELEASED && known.released === known.amount;
    const merchants = whole ? unitsOf(before.get(vault)) : paid;
    toMerchants += merchants;
    toAgents += out - merchants;
    if (known.state === PENDING && out !== paid) broken.push("a Pending escrow paid the agent");
    if (known.state === PENDING && after.has(vault))
      if (unitsOf(after.get(vault)) < known.amount - known.released)
        broken.push("the vault of a Pending escrow lacks units");
    if (now !== undefined && now.lamports < BigInt(now.data.length + 128) * rate)
      if (now.lamports < (old?.lamports ?? 0n)) broken.push("an escrow's rent was taken");
  }
  const payees = new Set(escrows.flatMap(({ known }) => [known.agent, known.merchant]));
  const got = { merchants: 0n, agents: 0n };
  for (const { account, units } of gains) {
    const held = before.get(account.address);
    if (units === 0n) continue;
    if (!isToken(held) || !isToken(account)) {
      broken.push(`${account.address} appeared or is gone with units`);
      continue;
    }
    const holder = holderOf(held);
    const own = escrows.map(({ known }) => associatedOf(holder, known.mint));
    const isOwn = own.includes(account.address);
    const rightly = isOwn || (own.some((each) => named.has(each)) && !isShared(held));
    if (!payees.has(holder) || !rightly)
      broken.push(`${account.address} was paid and belongs to no payee`);
    const merchant = escrows.some(({ known }) => known.merchant === holder);
    got[merchant ? "merchants" : "agents"] += units;
  }
  if (got.merchants !== toMerchants) broken.push("the merchant got another amount than attested");
  if (got.agents !== toAgents) broken.push("the agent got another amount than the rest");
  const payers = new Set(escrows.map(({ known }) => known.rentPayer));
  const places = new Set(escrows.map(({ address }) => address));
  const others = [...after.values()].filter(({ executable }) => !executable);
  let sum = 0n;
  for (const { address, lamports } of others) {
    const change = lamports - (before.get(address)?.lamports ?? 0n);
    sum += change;
    const isMade =
      stateOf(before.get(address)) === undefined && signs(sent, address) && change < 0n;
    if (change === 0n || isMade || vaults.has(address) || places.has(address)) continue;
    if (!payers.has(address) || change < 0n)
      if (escrows.length > 0) broken.push(`${address} has other lamports and paid no rent`);
  }
  if (sum !== 0n) broken.push("lamports were made or lost");
  return broken;
};

/** The promises that one transaction breaks. */
export const brokenPromises = (passed: Passed): ReadonlyArray<string> => {
  const { before, after } = passed;
  const broken: Array<string> = [];
  const sum = (accounts: Accounts) =>
    [...accounts.values()].reduce((units, account) => units + unitsOf(account), 0n);
  if (sum(before) !== sum(after)) broken.push("tokens were made or lost");
  for (const [address, account] of after) {
    const [was, is] = [stateOf(before.get(address)), stateOf(account)];
    if (was !== undefined && is === undefined) broken.push(`the escrow ${address} is gone`);
    if (is === undefined) continue;
    const old = before.get(address);
    if (was !== undefined && old !== undefined)
      broken.push(...brokenLife(passed, address, old.data, account.data));
    else if (!same(account.data, created(account.data)) || account.data.length !== ESCROW)
      broken.push(`the escrow ${address} was made with more than its terms`);
  }
  return [...broken, ...brokenPayments(passed), ...brokenLog(passed)];
};
