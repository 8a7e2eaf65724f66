import type { Address } from "../../../core/domain/address.ts";
import { dataOf, problemOf } from "../../service/requests.ts";
import type { Escrow, LiveEscrow } from "../../generated/contract.ts";
import { type Awaited, awaitedOf } from "./awaited.ts";
import { escrowsOf } from "./escrows-of.ts";
import { soundRow, unsoundEscrow } from "./sound-row.ts";
import { addressNamed } from "../../address-named.ts";
import type { MerchantContext } from "../merchant-context.ts";
import { readMerchant } from "../read-merchant.ts";

/** Between two looks at the index, which itself follows the ledger within a second. */
const LOOK_MS = 2_000;
/** Escrows that are read from the ledger at once. */
const AT_ONCE = 8;

/** The merchant's escrow as the ledger has it; null where the service has no bytes of it any more. */
const liveEscrow = async (
  { requests }: MerchantContext,
  escrow: string,
  merchant: Address,
  signal: AbortSignal | undefined,
): Promise<LiveEscrow | null> => {
  const answer = await requests.answer(`/v1/escrows/${escrow}`, { signal });
  if (answer.status === 404 || answer.status === 410) return null;
  if (answer.status !== 200) throw problemOf(answer);
  const found = soundRow(dataOf(answer) as LiveEscrow, merchant);
  if (found.escrow_pda === escrow) return found;
  throw unsoundEscrow(`The service gave the escrow ${found.escrow_pda} for ${escrow}.`);
};

/** What was seen so far. */
type Seen = {
  readonly known: Map<string, Awaited>;
  /** The merchant's `revoked_seq`: a revocation changes what older escrows wait for. */
  revokedSeq: string | null;
};

/** The escrows whose answer may have changed: new ones, expired ones, those that are open no longer, and all after a revocation. */
const worthReading = (
  rows: ReadonlyArray<Escrow>,
  { known }: Seen,
  isRevoked: boolean,
): ReadonlyArray<string> => {
  const listed = new Map(rows.map((row) => [row.escrow_pda, row]));
  const changed = rows.filter(({ escrow_pda, refundable }) => {
    const before = known.get(escrow_pda)?.awaits;
    return isRevoked || before === undefined || (refundable && before !== "refund");
  });
  const gone = [...known.values()].filter(
    ({ escrow, awaits }) => awaits !== "nothing" && !listed.has(escrow),
  );
  return [...changed.map(({ escrow_pda }) => escrow_pda), ...gone.map(({ escrow }) => escrow)];
};

const look = async (
  context: MerchantContext,
  merchant: Address,
  seen: Seen,
  signal: AbortSignal | undefined,
): Promise<ReadonlyArray<Awaited>> => {
  const revokedSeq = (await readMerchant(context, merchant, signal))?.revoked_seq ?? null;
  const isRevoked = revokedSeq !== seen.revokedSeq;
  seen.revokedSeq = revokedSeq;
  const { escrows } = await escrowsOf(context.requests, merchant, { state: "Pending", signal });
  const names = worthReading(escrows, seen, isRevoked);
  const found: Array<Awaited> = [];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE);
    const read = await Promise.all(some.map((name) => liveEscrow(context, name, merchant, signal)));
    found.push(...read.filter((each) => each !== null).map(awaitedOf));
  }
  return found.filter((each) => seen.known.get(each.escrow)?.awaits !== each.awaits);
};

/**
 * What awaits a merchant: first every open escrow, then each one whenever what it waits for changes, until the signal is aborted or,
 * with `once`, after the first look. @throws SettlementError, and what the signal was aborted with.
 */
export async function* watch(
  context: MerchantContext,
  {
    merchant,
    once = false,
    signal,
  }: { readonly merchant: string; readonly once?: boolean; readonly signal?: AbortSignal },
): AsyncGenerator<Awaited> {
  const wallet = addressNamed(merchant, "merchant");
  const seen: Seen = { known: new Map(), revokedSeq: null };
  for (;;) {
    for (const each of await look(context, wallet, seen, signal)) {
      seen.known.set(each.escrow, each);
      yield each;
    }
    if (once) return;
    await context.requests.clock.pause(LOOK_MS, signal);
  }
}
