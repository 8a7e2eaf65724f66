import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { cp, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  fileSessions,
  type FileSessionsOptions,
  type HeldSessions,
} from "../../../client/node/file-sessions.ts";
import type { SessionStore } from "../../../client/sessions/store/session-store.ts";
import { temporaryDirectory } from "../../app/support/running-service.ts";
import { sessionStoreContract } from "../../contracts/session-store.ts";
import { begun, call, callsIn, told } from "../../contracts/session-histories.ts";
import {
  answerOf,
  closingOf,
  finalOf,
  headOf,
  keptCall,
  SESSIONS,
  stagedCall,
} from "../../doubles/kept-calls.ts";
import { SettlementError } from "../../../client/settlement-error.ts";
import { KEPT } from "../../doubles/session-sides.ts";
import { frameCuts } from "./frame-cuts.ts";

const place = (journalBytes: number) => async () => {
  const directory = await temporaryDirectory();
  const open = new Set<HeldSessions>();
  return {
    open: async () => {
      const store = await fileSessions(join(directory.path, "sessions"), { journalBytes });
      open.add(store);
      return store;
    },
    crash: async (store: SessionStore) => {
      for (const each of open) if (each === store) await each.stop();
      open.delete(store as HeldSessions);
    },
    remove: async () => {
      for (const each of open) await each.stop();
      await directory.remove();
    },
  };
};

sessionStoreContract("fileSessions", place(8_388_608), { isShared: false, histories: 20 });
sessionStoreContract("fileSessions, folded at each turn", place(1), {
  isShared: false,
  histories: 20,
});

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let folder: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
  folder = join(directory.path, "sessions");
});
afterEach(() => directory.remove());

const { escrow: ESCROW } = KEPT;
/** Opens the folder when the sessions of the suite are not made yet. */
const opened = (path = folder, options: FileSessionsOptions = {}) =>
  begun(fileSessions(path, options));
/** Opens it in their life. */
const later = async (path = folder, options: FileSessionsOptions = {}) => {
  const store = await fileSessions(path, options);
  await store.begin(() => Promise.resolve(KEPT.createdAt + 5n));
  return store;
};

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "none",
    (cause: unknown) => (cause instanceof SettlementError ? cause.code : String(cause)),
  );

type Step = (store: HeldSessions) => Promise<unknown>;

/** A short life of two sessions, of which each step keeps one thing. */
const LIFE: ReadonlyArray<Step> = [
  (store) => store.open(KEPT),
  async (store) => {
    await store.reserve(ESCROW, 1);
    await store.append(keptCall(1), answerOf(6));
  },
  (store) => store.open(SESSIONS[1] ?? KEPT),
  async (store) => {
    await store.reserve(ESCROW, 2);
    await store.stage(stagedCall(2));
  },
  (store) => store.append(keptCall(2), null),
  (store) => store.adopt(headOf(3, 1)),
  (store) => store.close(closingOf(2)),
  (store) => store.finish(ESCROW, finalOf(2, 1n)),
  (store) => store.end(ESCROW),
];

describe("a folder of sessions after a crash", () => {
  test("with its journal cut off at any byte, is as before one step or after it, and goes on", async () => {
    const journal = join(folder, "journal");
    let store = await opened();
    const states = [await told(store)];
    const sizes = [(await stat(journal)).size];
    for (const step of LIFE) {
      await step(store);
      states.push(await told(store));
      sizes.push((await stat(journal)).size);
    }
    await store.stop();
    const whole = await readFile(journal);
    for (const length of await frameCuts(journal, sizes[0] ?? 0)) {
      await writeFile(journal, whole.subarray(0, length));
      const done = sizes.findLastIndex((size) => size <= length);
      store = await opened();
      expect([await told(store)]).toEqual(states.slice(done, done + 1));
      await store.open(SESSIONS[2] ?? KEPT);
      await store.stop();
      if (length % 32 !== 0) continue;
      store = await opened();
      expect(await store.find(SESSIONS[2]?.escrow ?? ESCROW)).not.toBeNull();
      await store.stop();
    }
  });

  test("between a session's own file and the journal, holds each call once", async () => {
    let store = await opened();
    await store.open(KEPT);
    await call(store, 1, 2);
    await store.stop();
    const journal = join(folder, "journal");
    const before = await readFile(journal);
    store = await opened(folder, { journalBytes: 1 });
    await call(store, 3);
    await store.stop();
    const own = join(folder, "sessions", `${ESCROW}.calls`);
    expect((await stat(own)).size).toBeGreaterThan(700);
    // The files were written, and the journal was not replaced yet.
    await writeFile(journal, before);
    store = await opened(folder, { journalBytes: 1 });
    expect(await callsIn(store)).toEqual([keptCall(1), keptCall(2)]);
    await call(store, 3, 4);
    expect(await callsIn(store)).toEqual([1, 2, 3, 4].map((count) => keptCall(count)));
    await store.stop();
  });

  test("of a process that is killed while it appends, has every call that was told, and is free", async () => {
    for (const kills of [1, 5, 12]) {
      const child = Bun.spawn(
        [process.execPath, join(import.meta.dir, "append-until-killed.ts"), folder],
        { stdout: "pipe", stderr: "inherit" },
      );
      let told = 0;
      const reader = child.stdout.getReader();
      for (let lines = 0; lines < kills;) {
        const { value, done } = await reader.read();
        if (done) throw new Error("it ended by itself");
        const numbers = new TextDecoder().decode(value).trim().split("\n");
        lines += numbers.length;
        told = Number(numbers.at(-1));
      }
      child.kill("SIGKILL");
      await child.exited;
      const store = await opened();
      const kept = (await store.find(ESCROW))?.newest?.voucher.count ?? 0;
      expect(kept).toBeGreaterThanOrEqual(told);
      expect((await callsIn(store)).length).toBe(kept);
      expect(await store.answer(ESCROW, kept)).not.toBeNull();
      expect(await store.reserve(ESCROW, kept + 1)).toBe("reserved");
      await store.stop();
    }
  });
});

describe("a folder of sessions", () => {
  test("belongs to one process, and only to its owner", async () => {
    const store = await opened();
    expect(await codeOf(opened())).toBe("store_in_use");
    await store.open(KEPT);
    const modes = async (path: string) => (await stat(path)).mode & 0o777;
    expect(await modes(folder)).toBe(0o700);
    for (const name of ["journal", "born", "lock"])
      expect(await modes(join(folder, name))).toBe(0o600);
    await store.stop();
    expect(await codeOf(store.open(SESSIONS[1] ?? KEPT))).toBe("store_unusable");
  });

  test("has at most 350 bytes for a call, and the newest answer only", async () => {
    const store = await opened(folder, { journalBytes: 1 });
    await store.open(KEPT);
    const own = join(folder, "sessions", `${ESCROW}.calls`);
    await call(store, 1);
    await store.open(SESSIONS[1] ?? KEPT);
    const before = (await stat(own)).size;
    await call(store, 2, 6);
    await store.open(SESSIONS[2] ?? KEPT);
    expect(((await stat(own)).size - before) / 5).toBeLessThan(350);
    await store.stop();
  });

  test("that was copied answers no call of the sessions of before", async () => {
    const store = await opened();
    await store.open(KEPT);
    await call(store, 1);
    expect((await store.find(ESCROW))?.isRestored).toBe(false);
    await store.stop();
    const again = await later();
    expect((await again.find(ESCROW))?.isRestored).toBe(false);
    await again.stop();
    const moved = `${folder}-moved`;
    await rename(folder, moved);
    const there = await later(moved);
    expect((await there.find(ESCROW))?.isRestored).toBe(false);
    await there.stop();
    await cp(moved, folder, { recursive: true, preserveTimestamps: true });
    for (const _ of ["found", "kept"]) {
      const copy = await later();
      expect((await copy.find(ESCROW))?.isRestored).toBe(true);
      expect(await copy.adopt(headOf(3))).toBe(true);
      await copy.open({ ...(SESSIONS[1] ?? KEPT), createdAt: KEPT.createdAt + 100n });
      expect((await copy.find(SESSIONS[1]?.escrow ?? ESCROW))?.isRestored).toBe(false);
      await copy.stop();
      await cp(join(moved, "journal"), join(folder, "journal"));
    }
  });

  test("is taken for a copy when its caller says so", async () => {
    const store = await opened();
    await store.open(KEPT);
    await store.stop();
    const restored = await later(folder, { restored: true });
    expect((await restored.find(ESCROW))?.isRestored).toBe(true);
    await restored.stop();
  });

  test("does not go on by damage, and names the file", async () => {
    const store = await opened(folder, { journalBytes: 1 });
    await store.open(KEPT);
    await call(store, 1, 3);
    await store.stop();
    const own = join(folder, "sessions", `${ESCROW}.calls`);
    for (const [path, at] of [
      [own, 700],
      [join(folder, "journal"), 60],
      [join(folder, "journal"), 3],
    ] as const) {
      const bytes = await readFile(path);
      await writeFile(
        path,
        bytes.map((byte, i) => (i === at ? byte ^ 1 : byte)),
      );
      const work = opened().then(async (damaged) => {
        try {
          return await callsIn(damaged);
        } finally {
          await damaged.stop();
        }
      });
      const failure = await work.catch((cause: unknown) => cause);
      expect(failure).toMatchObject({ code: "store_damaged" });
      expect(String(failure)).toContain(path);
      await writeFile(path, bytes);
    }
    await rm(join(folder, "journal"));
    expect(await codeOf(opened())).toBe("store_damaged");
    await rm(own);
    expect(await codeOf(opened())).toBe("store_damaged");
  });

  test("whose making a crash cut off is made", async () => {
    await mkdir(join(folder, "sessions"), { recursive: true });
    await writeFile(join(folder, "lock"), "");
    await writeFile(join(folder, "journal.new"), "sejo");
    const store = await opened();
    await store.open(KEPT);
    expect((await store.find(ESCROW))?.isRestored).toBe(false);
    await store.stop();
  });

  test("says that the disk is full, keeps nothing of it, and goes on once there is room", async () => {
    const child = Bun.spawn(
      [
        "bash",
        "-c",
        `trap '' XFSZ; ulimit -f 16; exec "$0" "$@"`,
        process.execPath,
        join(import.meta.dir, "append-until-killed.ts"),
        folder,
      ],
      { stdout: "pipe", stderr: "pipe" },
    );
    const [out, said] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    expect(said).toContain("store_unusable");
    const store = await opened();
    const count = Number(out.trim().split("\n").at(-1));
    expect((await store.find(ESCROW))?.newest?.voucher.count).toBe(count);
    expect((await callsIn(store)).length).toBe(count);
    await store.stop();
  });
});
