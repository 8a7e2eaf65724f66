import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileSession } from "../../../client/node/file-session.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import type { SessionJournal } from "../../../client/sessions/agent/session-journal.ts";
import { SettlementError } from "../../../client/settlement-error.ts";
import { temporaryDirectory } from "../../app/support/running-service.ts";
import { CALLS, closingOf, headOf, keptCall } from "../../doubles/kept-calls.ts";
import { frameCuts } from "./frame-cuts.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(() => directory.remove());

const OPENING = {
  version: 3,
  network: "net",
  agent: "agent",
  merchant: "merchant",
  mint: "mint",
  budget: "1000000",
  task: "task",
  nonce: "nonce",
  ttl: 600,
  attestor: null,
  seed: "seed",
  account: null,
  fees: "0",
} as const;

const pendingOf = (count: number) => {
  const call = CALLS[0]?.[count - 1];
  if (call === undefined) throw new RangeError(`no call ${count}`);
  return { voucher: call.voucher, order: call.order, intent: call.intent };
};

type Step = (journal: SessionJournal) => Promise<void>;

/** A short life with everything in it. */
const LIFE: ReadonlyArray<Step> = [
  (journal) => journal.open(OPENING),
  (journal) => journal.order(pendingOf(1)),
  (journal) => journal.record(keptCall(1)),
  (journal) => journal.open({ ...OPENING, account: "account" }),
  (journal) => journal.order(pendingOf(2)),
  (journal) => journal.order(pendingOf(2)),
  (journal) => journal.record(keptCall(2)),
  (journal) => journal.record(keptCall(3)),
  (journal) => journal.close(closingOf(3)),
  (journal) => journal.adopt(headOf(5)),
  (journal) => journal.order(pendingOf(6)),
  (journal) => journal.record(keptCall(6)),
  (journal) => journal.stop({ code: "another_payload", detail: "€ no", receipt: null }),
  (journal) => journal.close(closingOf(6)),
];

const told = async (journal: SessionJournal) => {
  const { head, ...state } = await journal.state();
  const newest = head && { ...head, before: head.before.edges, total: head.before.total };
  return { ...state, newest, calls: await Array.fromAsync(journal.calls(1)) };
};

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "none",
    (cause: unknown) => (cause instanceof SettlementError ? cause.code : String(cause)),
  );

describe("a session's file", () => {
  test("says after each step what a journal in memory says, also when it is opened again", async () => {
    const path = join(directory.path, "session");
    const model = memorySessionJournal();
    for (const step of LIFE) {
      await step(model);
      const journal = await fileSession(path);
      await step(journal);
      const expected = await told(model);
      expect(await told(journal)).toEqual(expected);
      await journal.release();
      const again = await fileSession(path);
      expect(await told(again)).toEqual(expected);
      await again.release();
    }
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("cut off at any byte, is as before one step or after it, and goes on", async () => {
    const path = join(directory.path, "session");
    const journal = await fileSession(path);
    const model = memorySessionJournal();
    const states = [await told(model)];
    const sizes = [(await stat(path)).size];
    for (const step of LIFE) {
      await step(journal);
      await step(model);
      states.push(await told(model));
      sizes.push((await stat(path)).size);
    }
    await journal.release();
    const whole = await readFile(path);
    const cut = join(directory.path, "cut");
    for (const length of await frameCuts(path, sizes[0] ?? 0)) {
      await writeFile(cut, whole.subarray(0, length));
      const after = sizes.findLastIndex((size) => size <= length);
      const opened = await fileSession(cut);
      expect(await told(opened)).toMatchObject({ calls: states[after]?.calls ?? [] });
      expect((await told(opened)).closing).toEqual(states[after]?.closing ?? null);
      await opened.stop({ code: "c", detail: "d", receipt: null });
      await opened.release();
      if (length % 16 !== 0) continue;
      const again = await fileSession(cut);
      expect((await again.state()).stopped?.code).toBe("c");
      await again.release();
    }
  });

  test("changed in any byte that was synced long ago, is damaged, and never another history", async () => {
    const path = join(directory.path, "session");
    const journal = await fileSession(path);
    for (const step of LIFE) await step(journal);
    const expected = await told(journal);
    await journal.release();
    const whole = await readFile(path);
    const bad = join(directory.path, "bad");
    for (let at = 0; at < whole.length; at += 7) {
      await writeFile(
        bad,
        whole.map((byte, i) => (i === at ? byte ^ 16 : byte)),
      );
      const opened = await fileSession(bad).catch((cause: unknown) => cause);
      if (opened instanceof SettlementError) {
        expect(opened.code).toBe("store_damaged");
        continue;
      }
      // Only the last frame cannot be told from one that a crash tore.
      const kept = await told(opened as SessionJournal);
      expect(kept.calls).toEqual(expected.calls);
      await (opened as SessionJournal).release();
    }
  });

  test("belongs to one process, and to the next one after it", async () => {
    const path = join(directory.path, "session");
    const journal = await fileSession(path);
    expect(await codeOf(fileSession(path))).toBe("store_in_use");
    await journal.release();
    expect(await codeOf(journal.open(OPENING))).toBe("store_unusable");
    const next = await fileSession(path);
    await next.open(OPENING);
    await next.release();
  });

  test("has at most 350 bytes for a call", async () => {
    const path = join(directory.path, "session");
    const journal = await fileSession(path);
    await journal.order(pendingOf(1));
    await journal.record(keptCall(1));
    const before = (await stat(path)).size;
    await journal.order(pendingOf(2));
    await journal.record(keptCall(2));
    expect((await stat(path)).size - before).toBeLessThan(350);
    await journal.release();
  });
});
