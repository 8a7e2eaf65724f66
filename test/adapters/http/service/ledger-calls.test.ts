import { afterEach, describe, expect, test } from "bun:test";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import { LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { jsonOf, makeService } from "../support/service.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

let service: Awaited<ReturnType<typeof makeService>> | undefined;
afterEach(() => service?.runtime.dispose());

const open = async () => (service = await makeService({ clock: patientClock() }));
type Service = Awaited<ReturnType<typeof open>>;

const get = (opened: Service, path: string) =>
  opened.app.handle(new Request(`http://localhost${path}`));
const pass = (opened: Service, ms: number) => opened.runtime.runPromise(TestClock.adjust(ms));

/**
 * The ledger calls that a first answer needs. `/ready`, and the metrics that say the same, read the genesis hash and
 * the programs' own accounts too, until they are initialised; the metrics also the finalized tip.
 */
const CALLS = { "/ready": 3, "/metrics": 4, "/v1/status": 3 } as const;

describe("what anonymous callers cost the operator", () => {
  test.each(Object.entries(CALLS))(
    "any number of GET %s in a second make %i",
    async (path, calls) => {
      const gaps = fc.array(fc.integer({ min: 0, max: 90 }), { minLength: 1, maxLength: 11 });
      const crowd = fc.integer({ min: 1, max: 5 });
      await fc.assert(
        fc.asyncProperty(gaps, crowd, async (waits, together) => {
          const opened = await open();
          for (const ms of waits) {
            await Promise.all(Array.from({ length: together }, () => get(opened, path)));
            await pass(opened, ms);
          }
          expect(opened.ledger.reads).toBe(calls);
          await opened.runtime.dispose();
        }),
        { numRuns: 15 },
      );
    },
  );

  test("after a second the ledger is asked again", async () => {
    const opened = await open();
    const slot = async () => {
      const { data } = await jsonOf<{ data: { network: { slot: number } } }>(
        await get(opened, "/v1/status"),
      );
      return data.network.slot;
    };
    expect(await slot()).toBe(1000);
    opened.ledger.slot += 7n;
    await pass(opened, 999);
    expect(await slot()).toBe(1000);
    await pass(opened, 1);
    expect(await slot()).toBe(1007);
  });

  test("a ledger that is down or does not answer is not asked more often", async () => {
    const opened = await open();
    opened.ledger.fault = new LedgerUnavailable({ retryable: true, cause: "down" });
    const statuses = async () => [
      (await get(opened, "/ready")).status,
      (await get(opened, "/ready")).status,
    ];
    expect(await statuses()).toEqual([503, 503]);
    expect(opened.ledger.reads).toBe(1);
    opened.ledger.fault = "hangs";
    await pass(opened, 1000);
    for (let n = 0; n < 3; n++) {
      const answer = get(opened, "/ready");
      await pass(opened, 0);
      await pass(opened, 700);
      expect((await answer).status).toBe(503);
    }
    expect(opened.ledger.reads).toBe(2);
  });
});
