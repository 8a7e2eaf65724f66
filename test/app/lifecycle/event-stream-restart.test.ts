import { afterAll, expect, test } from "bun:test";
import type { SettlementEventRecord } from "../../../adapters/http/index/event-contract.ts";
import { withDemoLedger } from "../support/demo-ledger.ts";
import { quietEnvironment, synced, temporaryDirectory } from "../support/running-service.ts";
import { type ServiceProcess, startShortLivedService } from "../support/service-process.ts";

const directory = await temporaryDirectory();
withDemoLedger(directory.path);
const started: Array<ServiceProcess> = [];

/** A service on the same directory. Resolves once its index has the demo data. */
const start = async (): Promise<{ readonly service: ServiceProcess; readonly url: string }> => {
  const service = startShortLivedService({
    ...quietEnvironment(directory.path),
    LOG_LEVEL: "info",
  });
  started.push(service);
  const url = await service.url;
  await synced(url);
  return { service, url };
};

type Streamed = { readonly id: string; readonly record: SettlementEventRecord };

/** The first `count` events that a stream sends after an id, or from the first event on. */
const streamed = async (
  url: string,
  lastEventId: string | null,
  count: number,
): Promise<ReadonlyArray<Streamed>> => {
  const response = await fetch(`${url}/v1/indexer/events/stream?after=0`, {
    headers: lastEventId === null ? {} : { "last-event-id": lastEventId },
  });
  expect(response.status).toBe(200);
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
  const decoder = new TextDecoder();
  let text = "";
  const events = () =>
    text
      .split("\n\n")
      .slice(0, -1)
      .flatMap((message): ReadonlyArray<Streamed> => {
        const [, id, data] = /^id: (.*)\ndata: (.*)$/m.exec(message) ?? [];
        if (id === undefined || data === undefined) return [];
        return [{ id, record: JSON.parse(data) as SettlementEventRecord }];
      });
  while (events().length < count) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the stream ended after ${events().length} of ${count} events`);
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return events().slice(0, count);
};

afterAll(async () => {
  for (const service of started) service.kill("SIGKILL");
  await Promise.all(started.map(({ ended }) => ended));
  await directory.remove();
});

test("a reader continues from its last id after a kill and a restart, without gap or duplicate", async () => {
  const first = await start();
  const before = await streamed(first.url, null, 3);
  first.service.kill("SIGKILL");
  await first.service.ended;

  const second = await start();
  const listed = (await (await fetch(`${second.url}/v1/indexer/events?limit=500`)).json()) as {
    data: ReadonlyArray<SettlementEventRecord>;
  };
  const last = before.at(-1)?.id ?? "none";
  const after = await streamed(second.url, last, listed.data.length - before.length);
  expect([...before, ...after].map(({ record }) => record.id)).toEqual(
    listed.data.map(({ id }) => id).toReversed(),
  );
  expect([...before, ...after].map(({ record }) => record.position)).toEqual([1, 2, 3, 4, 5, 6, 7]);
});
