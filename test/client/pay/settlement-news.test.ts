import { describe, expect, test } from "bun:test";
import { settlementNews } from "../../../client/pay/settlement-news.ts";
import type { Requests } from "../../../client/service/requests.ts";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { failureOf } from "../support/failure-of.ts";
import { AGENT, MERCHANT } from "../support/fake-service.ts";

const ESCROW = localKey("an escrow").address;

/** A service whose packet says what `decision` holds, and whose one stream says what is given to `say`. */
const scripted = (evidence: () => { status: number; json: unknown }) => {
  let now = 0;
  const pauses = new Set<() => void>();
  const pausing: Array<() => void> = [];
  const queries: Array<string> = [];
  let stream: ReadableStreamDefaultController<Uint8Array> | null = null;
  const waiting: Array<() => void> = [];
  const requests: Requests = {
    answer: (path) => {
      const { status, json } = path.startsWith("/v1/evidence/")
        ? evidence()
        : { status: 200, json: { data: { agent_owner: AGENT, merchant: MERCHANT } } };
      const text = JSON.stringify(json) ?? "";
      return Promise.resolve({ status, headers: new Headers(), text });
    },
    stream: (path) => {
      queries.push(path);
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          stream = controller;
        },
      });
      waiting.splice(0).forEach((go) => go());
      return Promise.resolve(new Response(body));
    },
    clock: {
      nowMs: () => now,
      pause: (ms, signal) =>
        new Promise((resolve, reject) => {
          if (signal?.aborted === true) reject(signal.reason as Error);
          const end = (): void => {
            now += ms;
            resolve();
          };
          pauses.add(end);
          for (const go of pausing.splice(0)) go();
          signal?.addEventListener(
            "abort",
            () => {
              pauses.delete(end);
              reject(signal.reason as Error);
            },
            { once: true },
          );
        }),
    },
  };
  return {
    requests,
    queries,
    opened: () => new Promise<void>((go) => (stream === null ? waiting.push(go) : go())),
    say: (finality: string, escrow: string = ESCROW) => {
      const data = JSON.stringify({ escrow_pda: escrow, state: "Fulfilled", finality });
      stream?.enqueue(new TextEncoder().encode(`data: ${data}\n\n`));
    },
    /** Resolves once something waits for the time. */
    paused: () => new Promise<void>((go) => (pauses.size > 0 ? go() : pausing.push(go))),
    /** Lets the time of every pause pass. */
    pass: () => {
      const ended = [...pauses];
      pauses.clear();
      for (const end of ended) end();
    },
  };
};

const decided = (status: string) => () => ({
  status: 200,
  json: { data: { settlement_decision: { status } } },
});
const wait = (
  requests: Requests,
  until: "confirmed" | "final",
  signal = new AbortController().signal,
) => settlementNews(requests, ESCROW, { until, withinMs: 45_000, signal });

describe("the news of a settlement", () => {
  test("what is final already is told at once", async () => {
    for (const status of ["released", "refunded"])
      for (const until of ["confirmed", "final"] as const)
        expect(await wait(scripted(decided(status)).requests, until)).toBe("final");
  });

  test("a confirmed one is told as it comes, out of the confirmed stream", async () => {
    const { requests, opened, say, queries } = scripted(decided("pending"));
    const told = wait(requests, "confirmed");
    await opened();
    say("confirmed", AGENT);
    say("confirmed");
    expect(await told).toBe("confirmed");
    expect(queries[0]).toInclude("commitment=confirmed");
  });

  test("a fork that undoes it ends the wait for the final one", async () => {
    const { requests, opened, say } = scripted(decided("pending"));
    const told = wait(requests, "final");
    await opened();
    say("confirmed");
    say("retracted");
    expect(await told).toBe("retracted");
  });

  test("a final one is told once its evidence is there", async () => {
    let status = "pending";
    const { requests, opened, say } = scripted(() => decided(status)());
    const told = wait(requests, "final");
    await opened();
    say("confirmed");
    status = "released";
    say("final");
    expect(await told).toBe("final");
  });

  test("without news it ends with the time, and with the caller's interest", async () => {
    const silent = scripted(() => ({ status: 409, json: { code: "not_final_yet" } }));
    const told = wait(silent.requests, "final");
    await silent.opened();
    const over = told.then(() => true);
    const later = async (): Promise<boolean> => {
      await silent.paused();
      silent.pass();
      return false;
    };
    for (let looks = 0; looks < 6; looks++) if (await Promise.race([over, later()])) break;
    expect(await told).toBeNull();
    const stop = new AbortController();
    const left = scripted(decided("pending"));
    const given = wait(left.requests, "final", stop.signal);
    given.catch(() => undefined);
    await left.opened();
    stop.abort(new Error("enough"));
    expect((await failureOf(given)).message).toBe("enough");
  });

  test.each<[unknown]>([[null], [{}], [{ data: null }], [{ data: { settlement_decision: 5 } }]])(
    "a packet such as %j is no settlement",
    async (json) => {
      const { requests, opened, say } = scripted(() => ({ status: 200, json }));
      const told = wait(requests, "confirmed").catch((cause: { code: string }) => cause.code);
      void opened().then(() => say("confirmed"));
      expect(["unexpected_answer", "confirmed"]).toContain((await told) as string);
    },
  );
});
