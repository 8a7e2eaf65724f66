import { expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { creating, run, settling, SLOT } from "./confirmed-world.ts";

const FORKS_OF_ONE = 10;
/** Forks in all, over ledgers of ten forks each. */
const FORKS = Number(process.env["FORKS"] ?? 200);

test(`${FORKS} forks: each retraction is right, each final event comes once, and what is told stands`, async () => {
  let retracted = 0;
  for (let seed = 1; seed <= FORKS / FORKS_OF_ONE; seed++) {
    await run(({ ledger, open, sync, tell, leafAt }) =>
      Effect.gen(function* () {
        const random = seededRandom(seed);
        const below = (end: number) => Math.floor(random() * end);
        let number = 0;
        yield* sync;
        const stream = yield* open();
        yield* TestClock.adjust(SLOT);
        /** A reader that reconnects often, and the final events that it has had. */
        let guest = yield* open();
        const guestFinals: Array<bigint> = [];
        const note = () => {
          guestFinals.push(...guest.finals().map(({ event }) => event.position));
          // It may be shown what a fork that nobody has told of yet undoes.
          return guest.wrong.filter((each) => !each.startsWith("confirmed"));
        };
        const where = () => `seed ${seed}`;
        for (let own = 0; own < FORKS_OF_ONE;) {
          ledger.pass(1 + below(12));
          const acts = Array.from({ length: below(4) }, () =>
            random() < 0.6 || number === 0 ? creating(number++) : settling(below(number)),
          );
          if (random() < 0.5 && ledger.unfinal.length > 0) {
            own += 1;
            const undone = ledger.fork(below(ledger.unfinal.length));
            // Some of what was undone lands again, in another order.
            const again = undone.filter(() => random() < 0.6);
            for (const act of [...acts, ...again].sort(() => random() - 0.5)) {
              try {
                ledger.land(act);
              } catch (cause) {
                throw new Error(where(), { cause });
              }
            }
          } else for (const act of acts) ledger.land(act);
          const hearing = random() < 0.7 ? 1 : 0.4;
          let isAllHeard = true;
          yield* tell(() => {
            const isHeard = random() < hearing;
            isAllHeard &&= isHeard;
            return isHeard;
          });
          if (ledger.current.transactions.every(({ slot }) => slot < ledger.current.slot))
            isAllHeard = false;
          yield* TestClock.adjust(SLOT);
          if (random() < 0.5) yield* sync;
          yield* TestClock.adjust(SLOT);
          if (isAllHeard) {
            const events = ledger.current.custodyLog.events.length;
            const expected = Array.from({ length: events }, (_, n) => leafAt(BigInt(n + 1)));
            const standing = stream.standing();
            expect([where(), [...standing.keys()].length]).toEqual([where(), events]);
            expect(expected.map((_, n) => standing.get(BigInt(n + 1)))).toEqual(expected);
          }
          if (random() < 0.3) {
            expect([where(), ...note()]).toEqual([where()]);
            yield* guest.end;
            guest = yield* open(guestFinals.at(-1) ?? 0n);
          }
        }
        ledger.pass(40);
        yield* sync;
        for (let n = 0; n < 12; n++) yield* TestClock.adjust("1 second");
        expect([where(), ...stream.wrong, ...note()]).toEqual([where()]);
        const all = Array.from(ledger.current.custodyLog.events, (_, n) => BigInt(n + 1));
        expect(stream.finals().map(({ event }) => event.position)).toEqual(all);
        expect(guestFinals).toEqual(all);
        for (const { event } of stream.finals())
          expect(event.leafHash as string).toBe(leafAt(event.position) ?? "none");
        // Whatever was confirmed has become final or was retracted, the last word of each leaf.
        const last = new Map(
          stream.heard.map(({ finality, event }) => [
            `${event.position} ${event.leafHash}`,
            finality,
          ]),
        );
        for (const [leaf, finality] of last) {
          const [position = "0", hash] = leaf.split(" ");
          expect([leaf, finality]).toEqual([
            leaf,
            leafAt(BigInt(position)) === hash ? "final" : "retracted",
          ]);
        }
        retracted += stream.heard.filter(({ finality }) => finality === "retracted").length;
        expect(stream.isOver()).toBe(false);
        yield* Effect.forEach([stream, guest], ({ end }) => end);
      }),
    );
  }
  expect(retracted).toBeGreaterThan(FORKS / 2);
});
