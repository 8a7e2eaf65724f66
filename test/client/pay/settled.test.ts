import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "../../../client/connect.ts";
import type { SettledOptions } from "../../../client/pay/settled.ts";
import type { Fetch } from "../../../client/service/fetch-directly.ts";
import { AGENT, MERCHANT, problem } from "../support/fake-service.ts";
import { testClock } from "../support/test-clock.ts";
import { failureOf } from "../support/failure-of.ts";

const VECTORS = join(import.meta.dir, "../../vectors/evidence");
const read = (name: string): string => readFileSync(join(VECTORS, name), "utf8");
type Named = { readonly name: string; readonly packet: string };
const FULFILLED = read("fulfilled.json");
const escrowOf = (packet: string): string =>
  (JSON.parse(packet) as { data: { escrow: { escrow_pda: string } } }).data.escrow.escrow_pda;

type Step = string | (() => Response);

/** A service that answers each question for evidence with the next step, the last one ever after. */
const scripted = (steps: ReadonlyArray<Step>, trust = read("trust.json")) => {
  const time = testClock();
  let asked = 0;
  /** The `Last-Event-ID` of each stream, null without one. */
  const resumed: Array<string | null> = [];
  const streams: Array<ReadableStreamDefaultController<Uint8Array>> = [];
  const queries: Array<string> = [];
  const wanted: Array<() => void> = [];
  const fetch: Fetch = async (url, init) => {
    init.signal?.throwIfAborted();
    const { pathname, search } = new URL(url);
    if (pathname.startsWith("/v1/evidence/")) {
      const step = steps[Math.min(asked++, steps.length - 1)] ?? "";
      return typeof step === "string" ? new Response(step) : step();
    }
    if (pathname.endsWith("/stream")) {
      queries.push(search);
      resumed.push(new Headers(init.headers).get("last-event-id"));
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          streams.push(controller);
        },
      });
      wanted.splice(0).forEach((go) => go());
      return new Response(body);
    }
    return new Response(JSON.stringify({ data: { agent_owner: AGENT, merchant: MERCHANT } }));
  };
  const client = connect("http://service.test", { trust, fetch, clock: time.clock });
  return {
    time,
    asked: () => asked,
    queries: queries as ReadonlyArray<string>,
    resumed: resumed as ReadonlyArray<string | null>,
    settled: (escrow: string, options?: SettledOptions) => client.settled(escrow, options),
    /** Resolves once this number of streams were opened. */
    opened: async (count: number): Promise<void> => {
      while (streams.length < count) await new Promise<void>((go) => wanted.push(go));
    },
    say: (text: string) => streams.at(-1)?.enqueue(new TextEncoder().encode(text)),
    breakOff: () => streams.at(-1)?.close(),
  };
};

describe("settled", () => {
  for (const [file, state] of [
    ["fulfilled.json", "Fulfilled"],
    ["partially-fulfilled.json", "PartiallyFulfilled"],
    ["refunded.json", "Refunded"],
    ["cancelled.json", "Refunded"],
  ] as const)
    test(`${file} ends with ${state} and the packet as it came`, async () => {
      const packet = read(file);
      const found = await scripted([packet]).settled(escrowOf(packet));
      expect(found).toMatchObject({ state, packet, delivery: null });
      expect(found.verdict.verdict).toBe("verified");
    });

  test("evidence that is not final yet is asked for again when the service says", async () => {
    const early = () => problem(409, "not_final_yet", { "retry-after": "3" });
    const { settled, time, asked } = scripted([early, early, FULFILLED]);
    expect((await settled(escrowOf(FULFILLED))).state).toBe("Fulfilled");
    expect(asked()).toBe(3);
    expect(time.pauses.filter((ms) => ms === 3000)).toHaveLength(2);
  });

  test("an escrow that the service does not know yet is waited for, and one that it never knows is reported", async () => {
    const unknown = () => problem(404, "escrow_not_found");
    const late = scripted([unknown, unknown, FULFILLED]);
    expect((await late.settled(escrowOf(FULFILLED))).state).toBe("Fulfilled");
    const never = scripted([unknown]).settled(escrowOf(FULFILLED));
    expect(await failureOf(never)).toMatchObject({ code: "escrow_not_found" });
    const nonsense = scripted([unknown]).settled("nonsense");
    expect(await failureOf(nonsense)).toMatchObject({ code: "invalid_escrow" });
  });

  test("the evidence of another escrow is refused", async () => {
    const other = escrowOf(read("refunded.json"));
    expect(await failureOf(scripted([FULFILLED]).settled(other))).toMatchObject({
      code: "evidence_failed",
    });
  });

  test("every rejected packet of the vectors is refused, and so is nonsense", async () => {
    const forged = JSON.parse(read("rejecting.json")) as ReadonlyArray<Named>;
    expect(forged.length).toBeGreaterThan(10);
    for (const { name, packet } of forged) {
      const found = await scripted([packet])
        .settled(escrowOf(FULFILLED))
        .then(
          () => "believed",
          (cause: { readonly code: string }) => cause.code,
        );
      expect([
        name,
        ["evidence_failed", "unexpected_answer", "unsupported_version"].includes(found),
      ]).toEqual([name, true]);
    }
    for (const nonsense of ["{}", "null", "[]", '{"data":{}}'])
      expect(await failureOf(scripted([nonsense]).settled(escrowOf(FULFILLED)))).toMatchObject({
        code: "evidence_failed",
      });
  });

  test("aborted while it waits, it ends with the reason", async () => {
    const stop = new AbortController();
    const pending = read("pending.json");
    const { settled, opened } = scripted([pending]);
    const waiting = settled(escrowOf(pending), { signal: stop.signal });
    waiting.catch(() => undefined);
    await opened(1);
    stop.abort(new Error("enough"));
    expect((await failureOf(waiting)).message).toBe("enough");
    const already = settled(escrowOf(pending), { signal: stop.signal });
    expect((await failureOf(already)).message).toBe("enough");
  });

  test("a stream that breaks off is resumed behind the last id", async () => {
    const stop = new AbortController();
    const pending = read("pending.json");
    const { settled, opened, say, breakOff, resumed } = scripted([pending]);
    const waiting = settled(escrowOf(pending), { signal: stop.signal });
    waiting.catch(() => undefined);
    await opened(1);
    say(": keep\n\nid: 00000000000000aa-7\ndata: {}\n\nid: 00000000000000aa");
    say("-8\ndata: {}\n\n");
    breakOff();
    await opened(2);
    breakOff();
    await opened(3);
    stop.abort(new Error("enough"));
    expect((await failureOf(waiting)).message).toBe("enough");
    expect(resumed.slice(0, 3)).toEqual([null, "00000000000000aa-8", "00000000000000aa-8"]);
  });

  test("what is confirmed is told at once, and what a fork undoes, and neither wakes it", async () => {
    const stop = new AbortController();
    const pending = read("pending.json");
    const escrow = escrowOf(pending);
    const told: Array<string> = [];
    let heard = (): void => undefined;
    const all = new Promise<void>((resolve) => {
      heard = () => void (told.length === 2 && resolve());
    });
    const { settled, opened, say, queries } = scripted([pending]);
    const onNews = ({ finality, state }: { finality: string; state: string }) => {
      told.push(`${finality} ${state}`);
      heard();
    };
    const waiting = settled(escrow, { signal: stop.signal, onNews });
    waiting.catch(() => undefined);
    await opened(1);
    const frame = (finality: string, state: string, of = escrow) =>
      say(`data: ${JSON.stringify({ escrow_pda: of, state, finality })}\n\n`);
    frame("confirmed", "Pending");
    frame("confirmed", "Refunded", "another");
    say(`data: {"finality":"confirmed", ${escrow}\n\n`);
    frame("confirmed", "Fulfilled");
    frame("final", "Fulfilled");
    frame("retracted", "Fulfilled");
    await all;
    stop.abort(new Error("enough"));
    await failureOf(waiting);
    expect(told).toEqual(["confirmed Fulfilled", "retracted Fulfilled"]);
    expect(queries[0]).toContain("commitment=confirmed");
  });

  describe("where the service's quorum is below the policy's", () => {
    const logged = JSON.parse(read("log-packets.json")) as ReadonlyArray<Named>;
    const named = (name: string): string => logged.find((each) => each.name === name)?.packet ?? "";
    const whole = named("settled");
    const escrow = escrowOf(whole);
    const against = (...steps: ReadonlyArray<Step>) => scripted(steps, read("log-trust.json"));
    const WANTED = "quorum q wants 2 of [alpha, beta, gamma]; signed: ";

    test("the missing cosignature is awaited, and the account ends witnessed", async () => {
      const { settled, asked } = against(named("no-witness"), named("one-witness"), whole);
      const { packet, verdict } = await settled(escrow);
      expect([asked(), packet, verdict.verdict]).toEqual([3, whole, "verified"]);
    });

    test("one that never comes is named once the time is over", async () => {
      for (const [name, signed] of [
        ["no-witness", "none"],
        ["one-witness", "alpha"],
      ] as const) {
        const { settled, asked, time } = against(named(name));
        const failure = await failureOf(settled(escrow, { quorumWithinMs: 60_000 }));
        expect(failure).toMatchObject({
          code: "quorum_missing",
          message: `The escrow is Fulfilled, and the log's quorum did not cosign it within 60 s: ${WANTED}${signed}.`,
        });
        expect(asked()).toBeGreaterThan(5);
        const waited = time.pauses.reduce((sum, ms) => sum + ms, 0);
        expect(waited).toBeGreaterThanOrEqual(60_000);
        expect(waited).toBeLessThan(80_000);
      }
      const without = against(named("without-proof")).settled(escrow);
      expect(await failureOf(without)).toMatchObject({
        code: "quorum_missing",
        message: `The escrow is Fulfilled, and the log's quorum did not cosign it within 600 s: the packet has no proof that a log holds its account.`,
      });
    });

    test("aborted, the waiting names it too, with the signal's reason as the cause", async () => {
      const stop = new AbortController();
      const { settled } = against(() => {
        queueMicrotask(() => stop.abort(new Error("enough")));
        return new Response(named("one-witness"));
      });
      const failure = await failureOf(settled(escrow, { signal: stop.signal }));
      expect(failure).toMatchObject({ code: "quorum_missing", cause: new Error("enough") });
      expect(failure.message).toContain(`${WANTED}alpha`);
    });

    test("a cosignature that is forged is refused at once", async () => {
      for (const name of ["cosigned-another-checkpoint", "cosignature-time-changed"])
        expect(await failureOf(against(named(name), whole).settled(escrow))).toMatchObject({
          code: "evidence_failed",
        });
    });

    test("a packet that fails otherwise too is refused at once", async () => {
      const forged = named("one-witness").replace('"state":"Fulfilled"', '"state":"Refunded"');
      expect(await failureOf(against(forged, whole).settled(escrow))).toMatchObject({
        code: "evidence_failed",
      });
    });
  });

  test("where the policy wants a quorum, the packet is awaited until the account is witnessed", async () => {
    const logged = JSON.parse(read("log-packets.json")) as ReadonlyArray<Named>;
    const named = (name: string): string => logged.find((each) => each.name === name)?.packet ?? "";
    const [whole, without] = [named("settled"), named("without-proof")];
    const { settled, asked } = scripted([without, without, whole], read("log-trust.json"));
    const { verdict } = await settled(escrowOf(whole));
    expect(asked()).toBe(3);
    expect(verdict.checks).toContainEqual(
      expect.objectContaining({ name: "account_on_ledger", outcome: "witnessed" }),
    );
  });
});
