import { afterEach, beforeEach, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import fc from "fast-check";
import { join } from "node:path";
import { fileSession } from "../../../client/node/file-session.ts";
import { fileSessions } from "../../../client/node/file-sessions.ts";
import type { AgentContext } from "../../../client/sessions/agent/send-call.ts";
import { callOnce } from "../../../client/sessions/agent/call-session.ts";
import { closeWithSeller } from "../../../client/sessions/agent/close-with-seller.ts";
import { answerCall } from "../../../client/sessions/seller/answer-call.ts";
import type { SellerContext } from "../../../client/sessions/seller/seller-context.ts";
import { sqliteSessions } from "../../../client/sessions/store/sqlite-sessions.ts";
import type { SessionStore } from "../../../client/sessions/store/session-store.ts";
import { temporaryDirectory } from "../../app/support/running-service.ts";
import { begun } from "../../contracts/session-histories.ts";
import { runs } from "../../arbitraries/runs.ts";
import { ATTESTOR_SIGNER, KEPT, SESSION_SIGNER, TERMS } from "../../doubles/session-sides.ts";

const CLOCK = { nowMs: () => 1_772_366_500_000, pause: () => Promise.resolve() };

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(() => directory.remove());

type Opened = { readonly store: SessionStore; readonly leave: () => Promise<void> };

const inFolder = async (path: string): Promise<Opened> => {
  const store = await begun(fileSessions(path, { journalBytes: 4000 }));
  return { store, leave: store.stop };
};

const inSqlite = async (path: string): Promise<Opened> => {
  const db = new Database(path);
  const store = await begun(sqliteSessions(db));
  const leave = async () => {
    await store.stop();
    db.close();
  };
  return { store, leave };
};

const STEP = fc.record({
  isLost: fc.boolean(),
  restarts: fc.constantFrom("neither", "neither", "seller", "agent"),
  price: fc.bigInt({ min: 0n, max: 30n }),
});

let places = 0;

test.each<[string, (path: string) => Promise<Opened>]>([
  ["a folder", inFolder],
  ["SQLite", inSqlite],
])(
  "an agent's file and a seller's store in %s lose nothing, whatever answers and processes end",
  (_, open) =>
    fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 1, maxLength: 10 }), async (steps) => {
        const place = `${++places}`;
        const [agentPath, sellerPath] = [`agent-${place}`, `seller-${place}`].map((name) =>
          join(directory.path, name),
        ) as [string, string];
        let kept = await open(sellerPath);
        let journal = await fileSession(agentPath);
        let losing = 0;
        const agent = (): AgentContext => ({
          session: TERMS,
          network: KEPT.network,
          signer: SESSION_SIGNER,
          journal,
          fetch: async (url, init) => {
            const seller: SellerContext = {
              store: kept.store,
              view: { session: () => Promise.resolve({ session: KEPT }) },
              attestor: ATTESTOR_SIGNER,
              clock: CLOCK,
              onClosed: () => undefined,
            };
            const request = {
              method: init.method ?? "GET",
              url,
              headers: new Headers(init.headers),
              body: new Uint8Array(),
              price: BigInt(new URL(url).searchParams.get("price") ?? "0"),
            };
            const body = new TextEncoder().encode(`answer to ${url}`);
            const answer = await answerCall(seller, request, () =>
              Promise.resolve({ status: 200, headers: [], body }),
            );
            if (answer === null || losing-- > 0) throw new TypeError("connection reset");
            return answer;
          },
          clock: CLOCK,
        });
        let paid = 0n;
        for (const [at, { isLost, restarts, price }] of steps.entries()) {
          losing = isLost ? 1 : 0;
          if (restarts === "seller") {
            await kept.leave();
            kept = await open(sellerPath);
          }
          if (restarts === "agent") {
            await journal.release();
            journal = await fileSession(agentPath);
          }
          const url = `https://api.example.com/${at}?price=${price}`;
          const answer = await callOnce(agent(), { url, limit: 30n });
          paid += answer.price;
          expect([answer.count, answer.price]).toEqual([at + 1, price]);
        }
        const tally = await closeWithSeller(agent(), "https://api.example.com/0?price=0");
        expect([tally.count, tally.total]).toEqual([steps.length, paid]);
        const both = await Promise.all([
          Array.fromAsync(kept.store.calls(TERMS.escrow, 1)),
          Array.fromAsync(journal.calls(1)),
        ]);
        expect(both[0]).toEqual(both[1]);
        await kept.leave();
        await journal.release();
      }),
      runs(10),
    ),
);
