import { SQL } from "bun";
import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import { escrowPageQuery } from "../../../adapters/postgres/escrow-table.ts";
import { eventPageQuery } from "../../../adapters/postgres/event-table.ts";
import { registryPageQuery } from "../../../adapters/postgres/merchant-table.ts";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { ESCROW_STATES } from "../../../core/domain/escrow/escrow.ts";
import type { EscrowFilter } from "../../../ports/escrow-index.ts";
import { freshSchema, indexAt } from "./test-database.ts";

const ROWS = 40_000;
const LIMIT = 50;

/** Many escrows of twenty merchants and thirty agents, an event for each, and the merchants. */
const FILL = `
  INSERT INTO escrow (address, slot, state, bump, vault_bump, agent_owner, merchant, mint, rent_payer, task_hash,
      amount, released, created_at, expires_at, settled_at, proof_hash, attestor, attested_at, attestation_signature,
      created_seq, settled_seq)
    SELECT 'E' || lpad(n::text, 9, '0'), 1, n % 4, 255, 254, sha256(('agent' || n % 30)::bytea),
      sha256(('merchant' || n % 20)::bytea), sha256('mint'), sha256('payer'), sha256(n::text::bytea),
      18446744073709551615, CASE WHEN n % 4 IN (1, 3) THEN 18446744073709551615 ELSE 0 END, n, n + 600,
      CASE WHEN n % 4 > 0 THEN n + n % 500 END,
      CASE WHEN n % 4 IN (1, 3) THEN sha256('proof') END, sha256('attestor'),
      CASE WHEN n % 4 IN (1, 3) THEN n END, CASE WHEN n % 4 IN (1, 3) THEN sha512('signature') END,
      2 * n - 1, CASE WHEN n % 4 > 0 THEN 2 * n END
    FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO event (position, escrow, kind, state, agent_owner, merchant, mint, amount, occurred_at, chain_hash, refundable_from)
    SELECT created_at, address, 0, 0, agent_owner, merchant, mint, amount, created_at, sha256('link'),
      CASE WHEN state = 0 THEN expires_at END FROM escrow;
  INSERT INTO merchant
    SELECT 'M' || lpad(n::text, 9, '0'), 1, 255, sha256(('merchant' || n)::bytea), 'name', 0, sha256('attestor'),
      NULL, 1, 1, 1, n, 0, 0, 0, 0, 0, n::text, 'name', 'name' FROM generate_series(0, 19) AS n;
  ANALYZE escrow, event, merchant, escrow_tally, delivery_tally`;

type Plan = {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: ReadonlyArray<Plan>;
};

const nodesOf = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** How many rows of a table a plan has read. */
const rowsRead = (plan: Plan, table: string): number =>
  nodesOf(plan)
    .filter((node) => node["Relation Name"] === table)
    .reduce(
      (sum, node) =>
        sum + (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"],
      0,
    );

describe("what Postgres reads for a page", () => {
  test("a page reads about as many rows as it has, and the registry none of the escrows", async () => {
    const url = freshSchema();
    await Effect.runPromise(Effect.provide(Effect.void, indexAt(url)));
    const search_path = String(url.searchParams.get("schema"));
    url.searchParams.delete("schema");
    await using sql = new SQL(url.href, {
      max: 1,
      bigint: true,
      connection: { search_path, random_page_cost: 1.1 },
    });
    await sql.unsafe(FILL);
    const explain = async (query: { text: string; values: ReadonlyArray<unknown> } | null) => {
      if (query === null) throw new Error("every filter here can be met");
      const [row] = await sql.unsafe<
        ReadonlyArray<{ "QUERY PLAN": ReadonlyArray<{ Plan: Plan }> }>
      >(`EXPLAIN (ANALYZE, FORMAT JSON) ${query.text}`, [...query.values]);
      const plan = row?.["QUERY PLAN"][0]?.Plan;
      if (plan === undefined) throw new Error("EXPLAIN gives a plan");
      return plan;
    };
    const party = async (name: string) =>
      addressFromBytes(
        (
          await sql.unsafe<ReadonlyArray<{ key: Uint8Array }>>("SELECT sha256($1::bytea) AS key", [
            Buffer.from(name),
          ])
        )[0]?.key ?? new Uint8Array(),
      );
    const merchant = await party("merchant4");
    const agentOwner = await party("agent4");
    const filters: ReadonlyArray<EscrowFilter> = [
      {},
      { merchant },
      { agentOwner },
      ...ESCROW_STATES.map((state) => ({ state })),
      { merchant, state: "Pending" },
      { agentOwner, state: "Pending" },
      { refundableAt: BigInt(ROWS) },
      { merchant, refundableAt: BigInt(ROWS) },
    ];
    const middle = BigInt(ROWS / 2);
    const after = { createdAt: middle, address: merchant };
    for (const filter of filters) {
      // A run of each of the four states, each up to the limit.
      const most = 4 * LIMIT + 10;
      for (const place of [null, after]) {
        const plan = await explain(escrowPageQuery(filter, LIMIT, place));
        // What has not expired yet is passed over: here the newest 600 seconds, a quarter of them Pending.
        const unexpired = filter.refundableAt !== undefined && place === null ? 151 : 0;
        expect(rowsRead(plan, "escrow"), Bun.inspect([filter, place])).toBeLessThanOrEqual(
          most + unexpired,
        );
      }
      if (filter.state !== undefined && filter.state !== "Pending") continue;
      for (const place of [{ before: null }, { before: middle }, { after: middle }]) {
        const plan = await explain(eventPageQuery(filter, LIMIT, place));
        expect(
          rowsRead(plan, "event"),
          Bun.inspect([filter, place, plan], { depth: 9 }),
        ).toBeLessThanOrEqual(most + (filter.refundableAt === undefined ? 0 : 1000));
      }
    }
    const registry = await explain(registryPageQuery({}, LIMIT, null));
    expect(rowsRead(registry, "escrow")).toBe(0);
  });
});
