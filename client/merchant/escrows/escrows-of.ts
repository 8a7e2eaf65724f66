import type { Address } from "../../../core/domain/address.ts";
import type { Escrow, EscrowPage, EscrowState } from "../../generated/contract.ts";
import { isCount, isCursor } from "../../service/forms.ts";
import { type Answer, jsonOf, problemOf, type Requests } from "../../service/requests.ts";
import { soundRow, unsoundEscrow } from "./sound-row.ts";

/** What the index holds of a merchant: its escrows, newest first, and how many archived ones nobody has shown. */
export type IndexedEscrows = {
  readonly escrows: ReadonlyArray<Escrow>;
  readonly unseen: number;
};

/** The most that the index gives in one page. */
const PAGE = "100";

const pageIn = (answer: Answer): EscrowPage => {
  if (answer.status !== 200) throw problemOf(answer);
  const { data, page, index } = (jsonOf(answer) ?? {}) as Partial<EscrowPage>;
  const next = page?.next_cursor;
  if (!Array.isArray(data) || (next !== null && !isCursor(next)) || !isCount(index?.unseen))
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
    const query = new URLSearchParams({ merchant, limit: PAGE });
    if (state !== undefined) query.set("state", state);
    if (cursor !== null) query.set("cursor", cursor);
    const path = `/v1/indexer?${query.toString()}`;
    const answer = await requests.answer(path, { signal });
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
