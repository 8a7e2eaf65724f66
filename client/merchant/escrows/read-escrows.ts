import type { Address } from "../../../core/domain/address.ts";
import type { Escrow, EscrowPage, EscrowState, LiveEscrow } from "../../generated/contract.ts";
import { FORMS, MEMBER_FORMS } from "../../service/forms.ts";
import { dataOrNull, requestOf } from "../../service/operation.ts";
import { type Answer, jsonOf, problemOf, type Requests } from "../../service/requests.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { MerchantContext } from "../merchant-context.ts";

/** The columns of an export, in this order. */
export const EXPORT_COLUMNS = [
  "escrow_pda",
  "state",
  "agent_owner",
  "merchant",
  "mint",
  "amount_stroops",
  "released_stroops",
  "refunded_stroops",
  "task_hash",
  "proof_hash",
  "attestor",
  "created_at",
  "expires_at",
  "attested_at",
  "settled_at",
  "session_key",
  "deliveries",
  "closes_at",
  "settled_by",
] as const satisfies ReadonlyArray<keyof Escrow>;

/**
 * Those that are null until something happens, and for a single payment. The index does not know what a Pending one has
 * released.
 */
const LATER: ReadonlySet<string> = new Set<keyof Escrow>([
  "released_stroops",
  "deliveries",
  "proof_hash",
  "attested_at",
  "settled_at",
  "session_key",
  "closes_at",
  "settled_by",
]);
const STATES: ReadonlySet<unknown> = new Set<Escrow["state"]>([
  "Pending",
  "Fulfilled",
  "PartiallyFulfilled",
  "Refunded",
]);

/** The failure for an answer that no honest service gives. */
const unsoundEscrow = (detail: string): SettlementError =>
  new SettlementError(
    "unsound_escrow",
    detail,
    "Believe nothing of it, and do not use this service before its operator has explained it.",
  );

/**
 * Checks a service's record of an escrow: it is one of `merchant`, and each exported member has its form. Other texts
 * could become a formula or another row in a spreadsheet.
 * @throws SettlementError `unsound_escrow` for anything else.
 */
const soundRow = <R extends Escrow>(row: R, merchant: Address): R => {
  const given = (typeof row === "object" && row !== null ? row : {}) as Record<string, unknown>;
  const fits = (name: (typeof EXPORT_COLUMNS)[number]): boolean =>
    (LATER.has(name) && given[name] === null) || MEMBER_FORMS[name].fits(given[name]);
  const wrong = STATES.has(given["state"])
    ? EXPORT_COLUMNS.find((name) => !fits(name))
    : ("state" as const);
  if (wrong !== undefined)
    throw unsoundEscrow(`The service gave an escrow whose ${wrong} is malformed.`);
  if (row.merchant !== merchant)
    throw unsoundEscrow(
      `The service gave the escrow ${row.escrow_pda} of the merchant ${row.merchant}.`,
    );
  return row;
};

/** What the index holds of a merchant: its escrows, newest first, and how many archived ones nobody has shown. */
export type IndexedEscrows = {
  readonly escrows: ReadonlyArray<Escrow>;
  readonly unseen: number;
};

/** The most that the index gives in one page. */
const PAGE = 100;

const pageIn = (answer: Answer): EscrowPage => {
  if (answer.status !== 200) throw problemOf(answer);
  const { data, page, index } = (jsonOf(answer) ?? {}) as Partial<EscrowPage>;
  const next = page?.next_cursor;
  if (
    !Array.isArray(data) ||
    (next !== null && !FORMS.cursor.fits(next)) ||
    !FORMS.count.fits(index?.unseen)
  )
    throw unsoundEscrow("The service gave a page of escrows that is none.");
  return { data, page, index } as EscrowPage;
};

/** Every escrow of a merchant that the index holds, of one state where one is named. @throws SettlementError */
export const escrowsOf = async (
  requests: Requests,
  merchant: Address,
  {
    state,
    signal,
  }: { readonly state?: EscrowState; readonly signal?: AbortSignal | undefined } = {},
): Promise<IndexedEscrows> => {
  const byAddress = new Map<string, Escrow>();
  let cursor: string | null = null;
  for (;;) {
    const filter = { merchant, limit: PAGE, ...(state === undefined ? {} : { state }) };
    const query = { ...filter, ...(cursor === null ? {} : { cursor }) };
    const answer = await requests.answer(...requestOf("GET /v1/indexer", query, { signal }));
    const { data, page, index } = pageIn(answer);
    const before = byAddress.size;
    for (const each of data) {
      const row = soundRow(each, merchant);
      byAddress.set(row.escrow_pda, row);
    }
    if (page.next_cursor === null)
      return { escrows: [...byAddress.values()], unseen: index.unseen };
    if (byAddress.size === before)
      throw unsoundEscrow("The service gives page after page without another escrow.");
    cursor = page.next_cursor;
  }
};

/** The merchant's escrow as the ledger has it; null where the service has no bytes of it any more. */
export const liveEscrow = async (
  { requests }: MerchantContext,
  escrow: string,
  merchant: Address,
  signal: AbortSignal | undefined,
): Promise<LiveEscrow | null> => {
  const options = { signal, absent: [404, 410] };
  const live = await dataOrNull(requests, "GET /v1/escrows/{pda}", { pda: escrow }, options);
  if (live === null) return null;
  const row = soundRow(live, merchant);
  if (row.escrow_pda === escrow) return row;
  throw unsoundEscrow(`The service gave the escrow ${row.escrow_pda} for ${escrow}.`);
};
