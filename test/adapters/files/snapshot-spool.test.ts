import { afterEach, describe, expect, spyOn, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Effect, Logger, Stream } from "effect";
import { snapshotSpoolFile } from "../../../adapters/files/snapshot-spool.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import {
  OpenSnapshotSpool,
  type SnapshotSpool,
  type SnapshotTip,
} from "../../../ports/index/snapshot-spool.ts";
import { Ledger, type ScannedAccounts } from "../../../ports/ledger/ledger.ts";
import { TEST_DEPLOYMENT } from "../../arbitraries/test-ledger.ts";
import { accountOf } from "../../doubles/accounts.ts";
import { ledgerPort } from "../../world/ledger-port.ts";
import { walletOf } from "../../simulation/world-escrow.ts";

/** The user id that owns nothing. */
const NOBODY = 65_534;

const folders: Array<string> = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});
const newPath = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "settlement-spool-"));
  folders.push(folder);
  return join(folder, "deep", "snapshot.spool");
};

/** The warnings of the last spool that was opened. */
const warned: Array<unknown> = [];
const logger = Logger.make(({ message }) => void warned.push(message));

const TIP: SnapshotTip = {
  count: 7n,
  frontier: new Uint8Array(1280).fill(1),
  slot: 9n,
  ledgerTime: -3n,
};
const LATER: SnapshotTip = {
  count: 8n,
  frontier: new Uint8Array(1280).fill(2),
  slot: 10n,
  ledgerTime: 4n,
};

const account = (n: number, bytes = n): LedgerAccount => ({
  ...accountOf(
    walletOf(`account ${n}`),
    walletOf("owner"),
    new Uint8Array(bytes).fill(n),
    2n ** 64n - 1n,
  ),
  executable: n % 2 === 1,
});
const chunk = (slot: bigint, numbers: ReadonlyArray<number>, next?: string): ScannedAccounts => ({
  slot,
  value: numbers.map((n) => account(n)),
  ...(next === undefined ? {} : { next }),
});

const opening = (
  path: string,
  { tip = TIP, genesis = "genesis", isUsable = (): boolean => true, isShared = false } = {},
) => ({
  use: <A>(work: (spool: SnapshotSpool) => Effect.Effect<A>): Promise<A> =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const open = yield* OpenSnapshotSpool;
          return yield* work(yield* open(tip, isUsable));
        }),
      ).pipe(
        Effect.provide(snapshotSpoolFile(path, TEST_DEPLOYMENT, isShared)),
        Effect.provideService(Ledger, ledgerPort({ genesisHash: genesis })),
        Effect.provide(Logger.layer([logger])),
      ),
    ),
});

const contentOf = (spool: SnapshotSpool) =>
  Effect.gen(function* () {
    const kept = yield* Stream.runCollect(spool.kept);
    return { tip: spool.tip, kept: [...kept], position: yield* spool.position };
  });

const PLACE = { scan: 1, kind: 1 };
/** A spool of a complete kind, a page of the next one with its cursor, and a chunk without. */
const filled = async (path: string): Promise<void> =>
  opening(path).use((spool) =>
    Effect.gen(function* () {
      yield* Stream.runDrain(spool.kept);
      yield* spool.add({ scan: 1, kind: 0 }, chunk(9n, [1]));
      yield* spool.ended({ scan: 1, kind: 0 });
      yield* spool.add(PLACE, chunk(9n, [2, 3]));
      yield* spool.add(PLACE, chunk(9n, [], "cursor"));
      yield* spool.add(PLACE, chunk(11n, [4]));
    }),
  );

describe("the file of an unfinished snapshot", () => {
  test("gives back the tip, every account and the cursor", async () => {
    const path = newPath();
    await filled(path);
    const { tip, kept, position } = await opening(path, { tip: LATER }).use(contentOf);
    expect(tip).toEqual(TIP);
    expect(kept).toEqual([
      { scan: 1, kind: 0, ...chunk(9n, [1]) },
      { ...PLACE, ...chunk(9n, [2, 3]) },
      { ...PLACE, ...chunk(9n, [], "cursor") },
      { ...PLACE, ...chunk(11n, [4]) },
    ]);
    expect(position).toEqual({ ...PLACE, after: "cursor" });
    // Rows keep an account's bytes, and not the whole record with them.
    for (const { data } of kept.flatMap(({ value }) => value))
      expect(data.buffer.byteLength).toBe(data.length);
  });

  test("begins a kind or a scan after the last complete one", async () => {
    const path = newPath();
    await opening(path).use((spool) =>
      Effect.andThen(spool.ended({ scan: 2, kind: 0 }), spool.ended({ scan: 2, kind: 1 })),
    );
    const { position } = await opening(path).use(contentOf);
    expect(position).toEqual({ scan: 2, kind: 2, after: null });
  });

  test("cut at any byte gives a prefix, and takes more", async () => {
    const path = newPath();
    await filled(path);
    const whole = readFileSync(path);
    const { kept: all } = await opening(path).use(contentOf);
    for (let length = whole.length - 1; length > 0; length -= 97) {
      writeFileSync(path, whole);
      truncateSync(path, length);
      const cut = await opening(path, { tip: LATER }).use((spool) =>
        Effect.tap(contentOf(spool), () => spool.add(PLACE, chunk(12n, [5], "more"))),
      );
      expect(cut.kept).toEqual(all.slice(0, cut.kept.length));
      const again = await opening(path).use(contentOf);
      expect(again.kept.at(-1)).toEqual({ ...PLACE, ...chunk(12n, [5], "more") });
      expect(again.kept.length).toBe(cut.kept.length + 1);
    }
  });

  test("with a flipped bit ends before the damage", async () => {
    const path = newPath();
    await filled(path);
    const whole = readFileSync(path);
    whole[whole.length - 20] = (whole[whole.length - 20] ?? 0) ^ 1;
    writeFileSync(path, whole);
    const { kept } = await opening(path).use(contentOf);
    expect(kept).toHaveLength(3);
  });

  test.each([
    ["of another ledger", { genesis: "other" }],
    ["that the caller cannot use", { isUsable: () => false }],
  ])("%s is dropped", async (_name, options) => {
    const path = newPath();
    await filled(path);
    const { tip, kept, position } = await opening(path, { tip: LATER, ...options }).use(contentOf);
    expect({ tip, kept, position }).toEqual({
      tip: LATER,
      kept: [],
      position: { scan: 1, kind: 0, after: null },
    });
  });

  test("is gone once it is cleared, and keeps nothing more", async () => {
    const path = newPath();
    await filled(path);
    await opening(path).use((spool) =>
      Effect.andThen(spool.clear, spool.add(PLACE, chunk(9n, [1]))),
    );
    expect(existsSync(path)).toBe(false);
  });

  test("that cannot be made keeps nothing, does not fail the snapshot, and the log says why", async () => {
    warned.length = 0;
    const { kept } = await opening("/dev/null/snapshot.spool").use((spool) =>
      Effect.tap(contentOf(spool), () => spool.add(PLACE, chunk(9n, [1]))),
    );
    expect(kept).toEqual([]);
    expect(warned).toEqual([
      [
        "the snapshot goes on without keeping what it fetches",
        { cause: expect.stringMatching(/^E[A-Z]+: .*\/dev\/null/) },
      ],
    ]);
  });

  test("is kept in a folder whose parent its user may pass and not read", async () => {
    const path = newPath();
    const folder = dirname(path);
    mkdirSync(folder);
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) chownSync(folder, NOBODY, NOBODY);
    chmodSync(dirname(folder), 0o311);
    warned.length = 0;
    if (isRoot) process.seteuid?.(NOBODY);
    try {
      await filled(path);
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(dirname(folder), 0o700);
    }
    expect(warned).toEqual([]);
    expect((await opening(path).use(contentOf)).kept).not.toBeEmpty();
  });

  test("of a worker that has ended, which another one takes over first, leaves this one without a warning", async () => {
    const path = newPath();
    await filled(path);
    const left = `${path}-${2 ** 30}`;
    renameSync(path, left);
    using ended = spyOn(process, "kill").mockImplementation(() => {
      renameSync(left, `${path}.of-another`);
      throw Object.assign(new Error("no such process"), { code: "ESRCH" });
    });
    warned.length = 0;
    const { tip, kept } = await opening(path, { tip: LATER, isShared: true }).use((spool) =>
      Effect.tap(contentOf(spool), () => spool.add(PLACE, chunk(9n, [1]))),
    );
    expect(ended).toHaveBeenCalledTimes(1);
    expect({ tip, kept, warned }).toEqual({ tip: LATER, kept: [], warned: [] });
    expect(existsSync(`${path}-${process.pid}`)).toBe(true);
  });

  test("of a worker that has ended is taken over by another one, and that of one that lives is not touched", async () => {
    const path = newPath();
    await filled(path);
    const ended = Bun.spawn(["true"]);
    await ended.exited;
    await using living = Bun.spawn(["sleep", "60"], { stdio: ["ignore", "ignore", "ignore"] });
    const [left, held] = [`${path}-${ended.pid}`, `${path}-${living.pid}`];
    copyFileSync(path, held);
    renameSync(path, left);

    const shared = { tip: LATER, isShared: true };
    const { tip, kept } = await opening(path, shared).use(contentOf);
    expect({ tip, kept: kept.length }).toEqual({ tip: TIP, kept: 4 });
    const names = () => readdirSync(dirname(path)).toSorted();
    const own = `${path}-${process.pid}`;
    expect(names()).toEqual([own, held].map((file) => basename(file)).toSorted());

    await opening(path, shared).use(({ clear }) => clear);
    const again = await opening(path, shared).use((spool) =>
      Effect.tap(contentOf(spool), () => spool.clear),
    );
    expect(again.kept).toEqual([]);
    living.kill("SIGKILL");
    await living.exited;
    expect((await opening(path, { tip: LATER }).use(contentOf)).tip).toEqual(TIP);
    expect(names()).toEqual([basename(path)]);
  });
});
