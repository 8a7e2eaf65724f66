import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { join } from "node:path";
import { fileSessions } from "../../../client/node/file-sessions.ts";
import { callOnce } from "../../../client/sessions/agent/call-session.ts";
import { closeWithSeller } from "../../../client/sessions/agent/close-with-seller.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import type { AgentContext } from "../../../client/sessions/agent/send-call.ts";
import { answerCall } from "../../../client/sessions/seller/answer-call.ts";
import type { CallHandler, SellerContext } from "../../../client/sessions/seller/seller-context.ts";
import {
  keepingAttestor,
  memorySessionClaims,
} from "../../../client/sessions/seller/session-attestor.ts";
import { memorySessions, SharedSessions } from "../../../client/sessions/store/memory-sessions.ts";
import type { SessionStore } from "../../../client/sessions/store/session-store.ts";
import { sqliteSessions } from "../../../client/sessions/store/sqlite-sessions.ts";
import { temporaryDirectory } from "../../app/support/running-service.ts";
import { NETWORK } from "../../arbitraries/evidence.ts";
import { runs } from "../../arbitraries/runs.ts";
import { begun } from "../../contracts/session-histories.ts";
import { ATTESTOR_SIGNER, KEPT, SESSION_SIGNER, TERMS } from "../../doubles/session-sides.ts";

type Opened = { readonly store: SessionStore; readonly crash: () => Promise<unknown> };

/** Stores that a process can leave, and the next one can open. */
const STORES: Readonly<Record<string, (folder: string) => () => Promise<Opened>>> = {
  memory: () => {
    const place = new SharedSessions();
    return () => {
      const store = memorySessions(place);
      return Promise.resolve({ store, crash: () => Promise.resolve(store.crash()) });
    };
  },
  file: (folder) => async () => {
    const store = await begun(fileSessions(join(folder, "sessions")));
    return { store, crash: () => store.stop() };
  },
  sqlite: (folder) => async () => {
    const db = new Database(join(folder, "sessions.sqlite"));
    const store = await begun(sqliteSessions(db));
    const crash = async () => {
      await store.stop();
      db.close();
    };
    return { store, crash };
  },
};

/** What becomes of the attestor's next answers: given, lost behind its signature, or before it was asked. */
type Line = "whole" | "lost" | "dead";

const URL_OF_CALLS = "https://api.example.com/a";
const PRICE = 100n;

/** Processes of one seller over one store, one after another, and one agent. */
const world = async (open: () => Promise<Opened>) => {
  const attestor = keepingAttestor(ATTESTOR_SIGNER, memorySessionClaims());
  const signed = new Map<number, Set<string>>();
  let line: Line = "whole";
  let runs = 0;
  const handler: CallHandler = ({ count }) => {
    const body = new TextEncoder().encode(`quote ${count}, run ${++runs}`);
    return Promise.resolve({ status: 200, headers: [], body });
  };
  let process = await open();
  const contextOf = (): SellerContext => ({
    store: process.store,
    view: { session: () => Promise.resolve({ session: KEPT }) },
    attestor: {
      publicKey: attestor.publicKey,
      attest: async (session, claim) => {
        if (line === "dead") throw new Error("the attestor is not there");
        const attestation = await attestor.attest(session, claim);
        signed.set(claim.count, (signed.get(claim.count) ?? new Set()).add(claim.deliveries));
        if (line === "lost") throw new Error("the answer was lost");
        return attestation;
      },
    },
    // Each look at the time gives another one, so that a second leaf would be another.
    clock: {
      nowMs: () => Number(KEPT.createdAt + BigInt(runs)) * 1000,
      pause: () => Promise.resolve(),
    },
    onClosed: () => undefined,
  });
  const agent: AgentContext = {
    session: TERMS,
    network: NETWORK.genesisHash,
    signer: SESSION_SIGNER,
    journal: memorySessionJournal(),
    fetch: async (url, init) => {
      const request = new Request(url, init);
      const { method, headers } = request;
      const body = new Uint8Array(await request.arrayBuffer());
      const asked = { method, url, headers, body, price: PRICE };
      const answer = await answerCall(contextOf(), asked, handler).catch(() => null);
      return answer ?? new Response("", { status: 503 });
    },
    clock: { nowMs: () => 0, pause: () => Promise.resolve() },
  };
  return {
    agent,
    call: (path: string) => callOnce(agent, { url: URL_OF_CALLS + path, limit: PRICE }),
    set: (to: Line) => {
      line = to;
    },
    restart: async () => {
      await process.crash();
      process = await open();
    },
    runs: () => runs,
    roots: () => Array.from(signed.values(), (each) => each.size),
    end: () => process.crash(),
  };
};

const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "answered",
    (cause: { readonly code: string }) => cause.code,
  );

for (const [kind, stores] of Object.entries(STORES))
  describe(`a seller whose attestor is another process, over ${kind}`, () => {
    const within = async (use: (each: Awaited<ReturnType<typeof world>>) => Promise<void>) => {
      const directory = await temporaryDirectory();
      const each = await world(stores(directory.path));
      try {
        await use(each);
      } finally {
        await each.end();
        await directory.remove();
      }
    };

    test("after a crash between signature and record the same leaf is attested, and the handler does not run again", () =>
      within(async ({ call, set, restart, runs }) => {
        await call("/1");
        set("lost");
        expect(await outcome(call("/2"))).toBe("call_unanswered");
        expect(runs()).toBe(2);
        await restart();
        set("whole");
        const answer = await call("/2");
        expect([answer.count, new TextDecoder().decode(answer.body), runs()]).toEqual([
          2,
          "quote 2, run 2",
          2,
        ]);
        expect((await call("/3")).count).toBe(3);
      }));

    test("another request, and a closing voucher, go on from what was attested", async () => {
      for (const ends of [false, true])
        await within(async ({ agent, call, set, restart }) => {
          set("lost");
          expect(await outcome(call("/1"))).toBe("call_unanswered");
          await restart();
          set("whole");
          if (ends)
            expect(await closeWithSeller(agent, URL_OF_CALLS)).toMatchObject({
              count: 1,
              total: PRICE,
            });
          else expect((await call("/2")).count).toBe(2);
        });
    });

    test("whenever the attestor is lost and the process ends, no call is delivered or attested twice", () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.constantFrom<Line>("whole", "lost", "dead"), fc.boolean()), {
            minLength: 1,
            maxLength: 6,
          }),
          (faults) =>
            within(async ({ call, set, restart, runs, roots }) => {
              let calls = 0;
              for (const [line, isRestarted] of faults) {
                calls += 1;
                set(line);
                const first = await outcome(call(`/${calls}`));
                expect(first).toBe(line === "whole" ? "answered" : "call_unanswered");
                if (isRestarted) await restart();
                set("whole");
                if (line === "whole") continue;
                const { count, body } = await call(`/${calls}`);
                expect([count, new TextDecoder().decode(body)]).toEqual([
                  calls,
                  `quote ${calls}, run ${calls}`,
                ]);
              }
              expect(runs()).toBe(calls);
              expect(roots()).toEqual(Array(calls).fill(1));
            }),
        ),
        runs(8),
      ));
  });
