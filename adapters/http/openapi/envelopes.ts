import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { formatUnixTime, type UnixSeconds } from "../../../core/domain/unix-time.ts";
import { PAGE_LIMIT } from "../../../core/use-cases/index/index-query.ts";
import type { Commitment as LedgerCommitment } from "../../../ports/ledger/ledger.ts";
import { Commitment, Count, nullable, record, Slot, Time } from "./values.ts";
import { SAMPLE } from "./sample-values.ts";

/** The name of an answer that holds records of a schema. @throws Error for a schema without a name. */
const nameWith = ({ title }: TSchema, suffix: string): string => {
  if (title === undefined) throw new Error("the schema of an answer's data has no title");
  return `${title}${suffix}`;
};

/** One resource. */
export const data = <S extends TSchema>(schema: S) =>
  record(nameWith(schema, "Answer"), "One resource.", { data: schema });

const ReadContext = record("ReadContext", "The slot, commitment and ledger time of a live read.", {
  slot: Slot("The slot that was read."),
  commitment: Commitment,
  ledger_time: Time("The ledger's clock at that slot, which decides expiry."),
  source: Type.Optional(
    Type.Literal("index", {
      description:
        "Present where no node answered: the index has what is shown, and is complete up to that slot.",
    }),
  ),
});

/** The slot, commitment and ledger time of a live read, as JSON. */
export const readContext = (at: {
  readonly slot: bigint;
  readonly commitment?: LedgerCommitment;
  readonly ledgerTime: UnixSeconds;
  readonly isFromIndex?: true;
}): Static<typeof ReadContext> => ({
  slot: Number(at.slot),
  commitment: at.commitment ?? "confirmed",
  ledger_time: formatUnixTime(at.ledgerTime),
  ...(at.isFromIndex === true ? { source: "index" } : {}),
});

/** One resource read from the ledger. */
export const ledgerRead = <S extends TSchema>(schema: S) =>
  record(nameWith(schema, "Read"), "One resource, read from the ledger.", {
    data: schema,
    context: ReadContext,
  });

/** The `context` of every example of a live read. */
export const READ_CONTEXT_EXAMPLE = {
  slot: Number(SAMPLE.slot),
  commitment: "confirmed",
  ledger_time: "2026-03-01T12:00:30Z",
} as const;

const PageInfo = record("Page", "How to get the next page of a list.", {
  limit: Type.Integer({ minimum: PAGE_LIMIT.min, maximum: PAGE_LIMIT.max }),
  next_cursor: nullable(Type.String(), {
    description: "Send it back as `cursor` for the next page; null on the last.",
  }),
});

const IndexFreshness = record("IndexFreshness", "The slot up to which the index is complete.", {
  last_synced_slot: nullable(Count("Slot of the last completed sync."), {
    description: "Null before the first sync.",
  }),
  last_synced_at: nullable(Time("When it ended, by the service's clock."), {
    description: "Null before the first sync.",
  }),
  unseen: Count("Archived escrows that no list shows, because nobody has shown their bytes."),
  stale: Type.Optional(
    Type.Literal(true, {
      description:
        "Present while no node shows the ledger of the index: none has answered since the service began, or those that answer serve another ledger.",
    }),
  ),
});

/** A page of a list out of the index. */
export const indexPage = <S extends TSchema>(schema: S) =>
  record(nameWith(schema, "Page"), "A page of a list out of the index.", {
    data: Type.Array(schema),
    page: PageInfo,
    index: IndexFreshness,
  });

/** The members of every example of a page besides its rows. */
export const PAGE_EXAMPLE = {
  page: { limit: 50, next_cursor: null },
  index: {
    last_synced_slot: Number(SAMPLE.slot),
    last_synced_at: "2026-03-01T12:00:30.000Z",
    unseen: 0,
  },
} as const;

/** A list that is always answered whole. */
export const list = <S extends TSchema>(schema: S) =>
  record(nameWith(schema, "List"), "A list that is always answered whole.", {
    data: Type.Array(schema),
  });

/** The query parameters that every paged list takes. */
export const pageParameters = {
  limit: Type.Optional(
    Type.Integer({
      minimum: PAGE_LIMIT.min,
      maximum: PAGE_LIMIT.max,
      default: PAGE_LIMIT.default,
      description: "The most rows of a page.",
    }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 200, description: "`page.next_cursor` of the page before." }),
  ),
} as const;
