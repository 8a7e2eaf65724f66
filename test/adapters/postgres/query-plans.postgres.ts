import { expect, test } from "bun:test";
import { Effect } from "effect";
import {
  type Query,
  escrowPageQuery,
  ESCROWS_AT,
  ESCROWS_OF_HASH,
} from "../../../adapters/postgres/index/escrow-pages.ts";
import { eventPageQuery } from "../../../adapters/postgres/index/event-pages.ts";
import { LEAVES } from "../../../adapters/postgres/index/log-tables.ts";
import { registryPageQuery } from "../../../adapters/postgres/index/merchant-table.ts";
import { UNSEEN_PAGE } from "../../../adapters/postgres/index/put-escrows.ts";
import type { Value } from "../../../adapters/postgres/queries.ts";
import { ESCROW_STATES } from "../../../core/domain/escrow/escrow.ts";
import type { EscrowFilter } from "../../../ports/index/index-reader.ts";
import { walletOf } from "../../simulation/world-escrow.ts";
import { besideStore, freshSchema, withStore } from "./test-database.ts";

const ROWS = 40_000;
const MERCHANTS = 21;
const AGENTS = 25;
const LIMIT = 50;
/** Pending escrows of the last 600 seconds, which have not expired at the end. */
const UNEXPIRED = 600 / 4 + 1;

/**
 * Many escrows, each with two numbers, whose transactions are known but for every thousandth, unseen ones, and the
 * merchants.
 */
const FILL = `
  INSERT INTO escrow (created_seq, settled_seq, expires_at, delivery_seconds, state, created_referenced, settled_referenced,
      address, agent_owner, merchant, pending_hash, settled_hash, account)
    SELECT 2 * n - 1, CASE WHEN n % 4 > 0 THEN 2 * n END, n + 600, CASE WHEN n % 4 IN (1, 3) THEN n % 500 END, n % 4,
      n % 1000 > 0, n % 4 > 0 AND n % 1000 <> 1,
      sha256(('escrow ' || n)::bytea), sha256(('agent ' || n % ${AGENTS})::bytea),
      sha256(('merchant ' || n % ${MERCHANTS})::bytea), sha256('pending'), CASE WHEN n % 4 > 0 THEN sha256('settled') END,
      decode(repeat(md5(n::text), 23), 'hex')
    FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO event_transaction SELECT created_seq, sha512('transaction'), 1 FROM escrow WHERE created_referenced;
  INSERT INTO event_transaction SELECT settled_seq, sha512('transaction'), 1 FROM escrow WHERE settled_referenced;
  INSERT INTO unseen_escrow
    SELECT 2 * n - 1, 2 * n, 1, sha256(n::text::bytea), sha256('pending'), sha256('settled')
    FROM generate_series(${ROWS + 1}, ${ROWS + ROWS / 2}) AS n;
  INSERT INTO merchant
    SELECT 'M' || lpad(n::text, 9, '0'), 1, sha256('account'), sha256(('merchant ' || n)::bytea), 0, 1, n, n::text,
      'name', 'name' FROM generate_series(0, ${MERCHANTS - 1}) AS n;
  INSERT INTO escrow_tally SELECT merchant, state, count(*) FROM escrow GROUP BY merchant, state;
  UPDATE ledger SET mark_count = ${3 * ROWS}, mark_frontier = decode(repeat('5a', 1280), 'hex'), mark_slot = 1, mark_ledger_time = 1, mark_at_ms = 1;
  ANALYZE escrow, unseen_escrow, event_transaction, merchant, escrow_tally, delivery_tally, ledger`;

type Plan = {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: ReadonlyArray<Plan>;
};

const nodesOf = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** How many rows a plan has read of the tables of escrows. */
const rowsRead = (plan: Plan): number =>
  nodesOf(plan)
    .filter((node) => /^(unseen_)?escrow$/.test(node["Relation Name"] ?? ""))
    .reduce(
      (sum, node) =>
        sum + (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"],
      0,
    );

/** The most rows that a step of a plan sorts. */
const rowsSorted = (plan: Plan): number =>
  Math.max(
    0,
    ...nodesOf(plan)
      .filter((node) => node["Node Type"].endsWith("Sort"))
      .flatMap((node) => (node.Plans ?? []).map((input) => input["Actual Rows"])),
  );

const ranges = [{ before: null }, { before: BigInt(ROWS) }, { after: BigInt(ROWS) }];

const literal = (value: Value): string =>
  value instanceof Uint8Array ? `'\\x${Buffer.from(value).toString("hex")}'` : String(value);

const someone = { merchant: walletOf("merchant 4"), agentOwner: walletOf("agent 4") };
const filters: ReadonlyArray<EscrowFilter> = [
  {},
  { merchant: someone.merchant },
  { agentOwner: someone.agentOwner },
  someone,
].flatMap((parties) =>
  [undefined, ...ESCROW_STATES].flatMap((state) =>
    [undefined, BigInt(ROWS)].map((refundableAt) => ({ ...parties, state, refundableAt })),
  ),
);

/** The most rows of escrows that a page of a filter may read: those of each state's run up to the limit. */
const allowed = (filter: EscrowFilter): number => {
  // No index has both parties: the escrows of one are looked through for the other's.
  if (filter.merchant !== undefined && filter.agentOwner !== undefined) return ROWS / MERCHANTS + 1;
  return 7 * (LIMIT + 1) + (filter.refundableAt === undefined ? 0 : UNEXPIRED);
};

test("a page reads about as many rows as it has and sorts no more, and the registry reads no escrows", async () => {
  const url = freshSchema();
  await Effect.runPromise(withStore(url, () => Effect.void));
  await using sql = besideStore(url, { random_page_cost: 1.1 });
  await sql.unsafe(FILL);
  // A statement that is asked for often gets one plan for all values; others get one for their own.
  for (const mode of ["force_custom_plan", "force_generic_plan"]) {
    await sql.unsafe(`SET plan_cache_mode = ${mode}`);
    const explain = async ({ text, values }: Query): Promise<Plan> => {
      const asked = values.length === 0 ? "" : `(${values.map(literal).join(", ")})`;
      await sql.unsafe(`PREPARE page AS ${text}`);
      const [row] = await sql.unsafe<
        ReadonlyArray<{ "QUERY PLAN": ReadonlyArray<{ Plan: Plan }> }>
      >(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE page${asked}`);
      await sql.unsafe("DEALLOCATE page");
      const plan = row?.["QUERY PLAN"][0]?.Plan;
      if (plan === undefined) throw new Error("EXPLAIN gives a plan");
      return plan;
    };
    const expectRuns = async (query: Query | null, most: number, what: unknown) => {
      if (query === null) return;
      const plan = await explain(query);
      const told = () => Bun.inspect([what, plan], { depth: 12 });
      const [read, sorted] = [rowsRead(plan), rowsSorted(plan)];
      if (read > most || sorted > most)
        expect.unreachable(`${read} read, ${sorted} sorted: ${told()}`);
    };
    for (const filter of filters) {
      for (const before of [null, BigInt(ROWS)])
        await expectRuns(escrowPageQuery(filter, LIMIT, before), allowed(filter), [filter, before]);
      for (const range of ranges)
        await expectRuns(eventPageQuery(filter, LIMIT, range), allowed(filter), [filter, range]);
    }
    // A sync asks for all events without a transaction, nobody for a party's.
    for (const range of ranges)
      await expectRuns(
        eventPageQuery({ withoutTransaction: true }, LIMIT, range),
        2 * LIMIT,
        range,
      );
    const escrow = walletOf("escrow 77");
    for (const range of [{ before: null }, { after: 0n }])
      await expectRuns(eventPageQuery({ escrow }, LIMIT, range), 2, [escrow, range]);
    for (const from of [1n, BigInt(ROWS), BigInt(2 * ROWS)])
      await expectRuns({ text: LEAVES, values: [from, LIMIT] }, 4 * LIMIT, ["leaves", from]);
    for (const of of [`'${ROWS + 7}'`, "'escrow 77'"])
      await expectRuns({ text: ESCROWS_AT, values: [`ARRAY[sha256(${of})]`] }, 1, ["at", of]);
    const task = "substring(decode(repeat(md5('77'), 23), 'hex') FROM 145 FOR 32)";
    await expectRuns({ text: ESCROWS_OF_HASH, values: [task, LIMIT] }, 2, "of a hash");
    await expectRuns({ text: UNSEEN_PAGE, values: [0n, LIMIT] }, LIMIT, "unseen");
    expect(rowsRead(await explain(registryPageQuery({}, LIMIT, null)))).toBe(0);
  }
});
