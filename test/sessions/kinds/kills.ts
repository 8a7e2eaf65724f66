import { SQL } from "bun";
import process from "node:process";
import { seededRandom } from "../../arbitraries/seeded-random.ts";
import { type Battery, type CaseOptions, openCase, type OpenCase } from "../open-case.ts";
import { type Kill, MOMENTS } from "../seller-proxy.ts";
import type { Outcome } from "./outcome.ts";

const CALLS = 5;
/** Behind the last call comes the closing. */
const REQUESTS = CALLS + 1;
const MOST_AFTER_MS = 25;

/** Moments of kills that depend on the seed alone: every moment at every request comes within 24 cases. */
export const killsOf = (seed: number, who: Kill["who"], count: number): ReadonlyArray<Kill> => {
  const random = seededRandom(seed);
  const shift = Math.floor(random() * MOMENTS.length * REQUESTS);
  return Array.from({ length: count }, (_, n) => {
    const place = n + shift;
    return {
      who,
      at: Math.floor(place / MOMENTS.length) % REQUESTS,
      when: MOMENTS[place % MOMENTS.length] ?? "after it",
      afterMs: Math.floor(random() * MOST_AFTER_MS),
    };
  });
};

/** What must hold of a session that was played to its end: every call was given, once, and paid, once. */
export const requireWhole = (played: OpenCase, calls: number, agentKills: number): void => {
  const { ended, calls: given, refused } = played.told();
  if (refused.length > 0) played.faults.push(`the buyer was refused: ${refused.join(", ")}`);
  if (ended?.calls !== calls) played.faults.push(`${ended?.calls} calls were made, not ${calls}`);
  // A killed buyer can have had one answer that it did not tell of.
  if (given.size < calls - agentKills)
    played.faults.push(`${given.size} of ${calls} calls were given`);
};

/** One case with one kill. */
const killed = async (battery: Battery, kill: Kill, name: string): Promise<Outcome> => {
  const played = await openCase(battery, name, { calls: CALLS, kills: [kill] });
  try {
    await played.startSellers();
    await played.run();
    await played.stopSellers();
    requireWhole(played, CALLS, kill.who === "agent" ? 1 : 0);
    if (!played.proxy.seen.some((line) => line.includes("killed"))) played.faults.push("no kill");
    const faults = await played.judge();
    return { name, faults, said: [...played.proxy.seen, ...played.said] };
  } finally {
    await played.stop();
  }
};

/** A side is killed, at one seeded moment a case, and started again. */
export const killCases =
  (who: Kill["who"]) =>
  (battery: Battery, count: number): ReadonlyArray<() => Promise<Outcome>> =>
    killsOf(battery.seed, who, count).map((kill, n) => () => {
      const name = `kill-${who} ${n}: ${kill.when} request ${kill.at}, ${kill.afterMs} ms`;
      return killed(battery, kill, name);
    });

/** Two processes of one seller on one store, one of which is killed now and then. */
export const roundRobinCases = (
  battery: Battery,
  count: number,
  kind = "round-robin",
  place: () => Promise<Pick<CaseOptions, "database">> = () => Promise.resolve({}),
): ReadonlyArray<() => Promise<Outcome>> =>
  killsOf(battery.seed, "seller", count).map((kill, n) => async () => {
    const calls = 12;
    const name = `${kind} ${n}: one of two killed ${kill.when} request ${kill.at}`;
    const second = { ...kill, at: kill.at + REQUESTS };
    const options = { calls, processes: 2, kills: [kill, second], ...(await place()) };
    const played = await openCase(battery, name, options);
    try {
      await played.startSellers();
      await played.run();
      await played.stopSellers();
      requireWhole(played, calls, 0);
      return { name, faults: await played.judge(), said: [...played.proxy.seen, ...played.said] };
    } finally {
      await played.stop();
    }
  });

let databases = 0;

/** The same over PostgreSQL, a database for each case. There are none without a server. */
export const postgresCases = (
  battery: Battery,
  count: number,
): ReadonlyArray<() => Promise<Outcome>> => {
  const { postgres } = battery;
  if (postgres === undefined) return [];
  return roundRobinCases(battery, count, "postgres", async () => {
    const database = `sessions_${process.pid}_${++databases}`;
    await using sql = new SQL(postgres, { max: 1 });
    await sql.unsafe(`CREATE DATABASE ${database}`);
    return { database: new URL(`/${database}`, postgres).href };
  });
};

/** Several buyers, of one session each, and two processes of their seller on one store. */
export const manyCalls =
  (calls: number) =>
  (battery: Battery): ReadonlyArray<() => Promise<Outcome>> => [
    async () => {
      const BUYERS = 4;
      const each = Math.ceil(calls / BUYERS);
      const name = `calls: ${BUYERS} buyers, ${each} calls each, two processes of the seller`;
      const options = { calls: each, price: "0.001", budget: (each / 1000).toFixed(3) };
      const selling = await openCase(battery, `${name} 0`, { ...options, processes: 2 });
      const others: Array<OpenCase> = [];
      const began = performance.now();
      try {
        await selling.startSellers();
        for (let buyer = 1; buyer < BUYERS; buyer++)
          others.push(await openCase(battery, `${name} ${buyer}`, { ...options, sold: selling }));
        await Promise.all([selling, ...others].map((played) => played.run()));
        const seconds = (performance.now() - began) / 1000;
        await selling.stopSellers();
        const faults: Array<string> = [];
        for (const played of [selling, ...others]) {
          requireWhole(played, each, 0);
          faults.push(...(await played.judge()));
        }
        const said = [selling, ...others].flatMap(({ said: lines }) =>
          lines.filter((line) => !line.startsWith("called")),
        );
        const rate = `${(each * BUYERS) / seconds}`.slice(0, 6);
        return { name: `${name}; ${rate} calls a second, whole`, faults, said };
      } finally {
        for (const played of others) await played.stop();
        await selling.stop();
      }
    },
  ];
