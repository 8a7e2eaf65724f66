import { cp, rm } from "node:fs/promises";
import { type Battery, openCase, type OpenCase } from "../open-case.ts";
import type { Outcome } from "./outcome.ts";
import { requireWhole } from "./kills.ts";

/** What a side that must not trust its store says, and what an agent's buyer says of that. */
const RESTORED = "session_restored";
/**
 * A file that grows beyond this many blocks of 512 bytes fails as on a full disk, in any language, and without a file
 * system of its own. The signal that comes with it (XFSZ) is ignored, so that the program sees the error.
 */
const fullAfter = (blocks: number): string => `trap '' XFSZ; ulimit -f ${blocks}; `;

const outcomeOf = async (
  played: OpenCase,
  may: { readonly lost?: bigint; readonly owed?: boolean } = {},
): Promise<Outcome> => ({
  name: played.name,
  faults: await played.judge(may),
  said: [
    ...played.proxy.seen,
    ...played.proxy.exchanges.map(({ target, status, code }) => `${target} ${status} ${code}`),
    ...played.said,
  ],
});

/**
 * A store that is a copy from before some calls. A session that was open then gets no further receipt and no final
 * attestation out of it, by name, and its agent ends it on the ledger.
 */
const restored =
  (battery: Battery, processes: number, copiedAt: number, calls: number) =>
  async (): Promise<Outcome> => {
    const name = `restored: copy of call ${copiedAt} of ${calls}, ${processes} process(es)`;
    const played = await openCase(battery, name, { calls: calls + 1, processes });
    const copy = `${played.store}.copy`;
    try {
      await played.startSellers();
      await played.run({ CALLS: `${copiedAt}`, CLOSE: "0" });
      await played.stopSellers("killed");
      await cp(played.store, copy, { recursive: true });
      await played.startSellers();
      await played.run({ CALLS: `${calls}`, CLOSE: "0" });
      await played.stopSellers("killed");
      await rm(played.store, { recursive: true });
      await cp(copy, played.store, { recursive: true });
      const signed = played.proxy.exchanges.length;
      await played.startSellers();
      await played.run();
      await played.stopSellers();
      const { refused, ended } = played.told();
      for (const { receipt, target, status, body } of played.proxy.exchanges.slice(signed)) {
        if (receipt !== null) played.faults.push(`the copy gave a receipt for ${target}`);
        if (status === 200 && body.includes("attestation_signature"))
          played.faults.push("the copy signed a final attestation");
      }
      if (!refused.includes(RESTORED))
        played.faults.push(
          `the buyer heard ${refused.join(", ") || "no refusal"}, not ${RESTORED}`,
        );
      if (ended?.outcome !== "closing")
        played.faults.push(`the session is ${ended?.outcome}, not closed on the ledger`);
      return await outcomeOf(played, { owed: false });
    } finally {
      await played.stop();
    }
  };

/** The seller's disk is full for some time: nothing is delivered that is not kept, and then all goes on. */
const fullSeller = (battery: Battery, processes: number, blocks: number) => async () => {
  const calls = 40;
  const name = `full-disk: the seller's, ${blocks} blocks, ${processes} process(es)`;
  const played = await openCase(battery, name, { calls, processes });
  try {
    // The store is made before the session: one that is made later may have lost its calls.
    await played.startSellers();
    await played.stopSellers();
    await played.startSellers({}, fullAfter(blocks)).catch(() => undefined);
    // However that run ends, it is not the end of the session.
    await played.runOnce({ CLOSE: "0" });
    const given = played.told().calls.size;
    await played.stopSellers("killed");
    await played.startSellers();
    await played.run();
    await played.stopSellers();
    requireWhole(played, calls, 0);
    const outcome = await outcomeOf(played);
    return { ...outcome, name: `${name}; ${given} of ${calls} calls before` };
  } finally {
    await played.stop();
  }
};

const fullBuyer = (battery: Battery, blocks: number) => async () => {
  const calls = 40;
  const name = `full-disk: the buyer's, ${blocks} blocks`;
  const played = await openCase(battery, name, { calls });
  try {
    await played.startSellers();
    const code = await played.runOnce({ CLOSE: "0" }, fullAfter(blocks));
    const given = played.told().calls.size;
    // Whatever a buyer keeps of a session is longer than that.
    if (blocks <= 2 && code === 0 && given === calls) played.faults.push("the disk was not full");
    await played.run();
    await played.stopSellers();
    // The call that could not be kept may have been given, and was not told of.
    requireWhole(played, calls, 1);
    const outcome = await outcomeOf(played);
    return { ...outcome, name: `${name}; ${given} of ${calls} calls before` };
  } finally {
    await played.stop();
  }
};

/** Copies of stores from before some calls, by one process and by two that share one. */
export const restoredCases = (battery: Battery): ReadonlyArray<() => Promise<Outcome>> => [
  restored(battery, 1, 2, 5),
  restored(battery, 2, 2, 5),
  restored(battery, 1, 5, 5),
  restored(battery, 2, 5, 6),
];

/** Disks that are full at several moments. */
export const fullDiskCases = (battery: Battery): ReadonlyArray<() => Promise<Outcome>> => [
  ...[1, 8, 16, 24, 64].map((blocks) => fullSeller(battery, 1, blocks)),
  ...[64, 96, 128, 160].map((blocks) => fullSeller(battery, 2, blocks)),
  ...[1, 2, 8, 16].map((blocks) => fullBuyer(battery, blocks)),
];
