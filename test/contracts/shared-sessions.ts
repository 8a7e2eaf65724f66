import { expect, test } from "bun:test";
import { join } from "node:path";
import type { SessionStore } from "../../client/sessions/store/session-store.ts";
import { KEPT } from "../doubles/session-sides.ts";
import { callsIn } from "./session-histories.ts";

/** A database that processes share. */
export type SharedPlace = {
  /** What a process of `share-until-killed.ts` is told. */
  readonly arguments: readonly [place: string, schema: string];
  readonly open: () => Promise<SessionStore>;
  /** Ends the leases of all processes, as ten seconds without a word from them do. */
  readonly forget: () => Promise<void>;
  readonly remove: () => Promise<void>;
};

const PROGRAM = join(import.meta.dir, "../client/sessions/store/share-until-killed.ts");

const start = ({ arguments: [place, schema] }: SharedPlace, most: number) =>
  Bun.spawn([process.execPath, PROGRAM, place, schema, String(most)], {
    stdout: "pipe",
    stderr: "inherit",
  });

const numbersIn = (text: string): ReadonlyArray<number> =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => Number(line));

/** What holds of any store of sessions that real processes share. */
export const sharedSessionsContract = (name: string, fresh: () => Promise<SharedPlace>): void => {
  const withPlace = async (use: (place: SharedPlace) => Promise<void>): Promise<void> => {
    const place = await fresh();
    try {
      await use(place);
    } finally {
      await place.remove();
    }
  };

  test(`${name}: two processes make forty calls together, each number once`, () =>
    withPlace(async (place) => {
      const children = [start(place, 40), start(place, 40)];
      const told = await Promise.all(
        children.map(({ stdout }) => new Response(stdout).text().then(numbersIn)),
      );
      const all = told.flat().toSorted((a, b) => a - b);
      expect(new Set(all).size).toBe(all.length);
      const store = await place.open();
      const kept = await callsIn(store);
      expect(kept.map(({ voucher }) => voucher.count)).toEqual(all);
      expect(all.length).toBeGreaterThanOrEqual(40);
    }));

  test(`${name}: a process that is killed loses no call that it told of, and its reservation ends`, () =>
    withPlace(async (place) => {
      const child = start(place, 1_000_000);
      const reader = child.stdout.getReader();
      let text = "";
      while (numbersIn(text).length < 10) {
        const { value, done } = await reader.read();
        if (done) throw new Error("it ended by itself");
        text += new TextDecoder().decode(value);
      }
      child.kill("SIGKILL");
      await child.exited;
      const store = await place.open();
      const kept = (await callsIn(store)).length;
      expect(kept).toBeGreaterThanOrEqual(Math.max(...numbersIn(text)));
      await place.forget();
      expect(await store.reserve(KEPT.escrow, kept + 1)).toBe("reserved");
    }));
};
