import { totalOf } from "./call-count.ts";
import { costText, holdSession, payMany, payOnce } from "./payment-life.ts";
import { withVirtualService } from "./virtual-service.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Payments of the busy sample, and how many a day they come to. */
const SAMPLE = 60;
const BUSY_A_DAY = 100_000;

const listed = (calls: ReadonlyMap<string, number>, per = 1): string =>
  [...calls]
    .map(([method, count]) => `${method} ${Math.round((count / per) * 100) / 100}`)
    .join(", ");
const tell = (title: string, text: string) => process.stdout.write(`${title}\n${text}\n\n`);

// Run as a script: prints what docs/nodes.md says of the calls of a node.
await withVirtualService(async (service) => {
  await service.sleep(60_000);
  tell("A payment", costText(await payOnce(service, "first")));
  await service.sleep(90_000);
  tell("A session with one capture", costText(await holdSession(service, "session")));
  await service.sleep(90_000);
  const busy = await payMany(service, SAMPLE, DAY_MS / BUSY_A_DAY);
  tell(
    `Each of ${SAMPLE} payments at ${BUSY_A_DAY} a day: ${totalOf(busy) / SAMPLE}`,
    listed(busy, SAMPLE),
  );
  service.stepMs = 200;
  await service.sleep(60_000);
  service.calls.take();
  await service.sleep(HOUR_MS);
  const rest = service.calls.take();
  tell(`An hour at rest: ${totalOf(rest)}`, listed(rest));
});
