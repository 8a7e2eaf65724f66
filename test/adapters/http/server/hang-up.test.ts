import { expect, test } from "bun:test";
import { Context, Effect } from "effect";
import { connect } from "node:net";
import type { Connection } from "../../../../adapters/http/server/exchange.ts";
import { IndexSync } from "../../../../core/use-cases/index/sync/index-sync.ts";
import { listeningServices } from "../support/listening-service.ts";
import { AGENT } from "../support/parties.ts";

const listening = listeningServices();

/** Sends bytes, and disconnects without an answer once `isSeen` says that they have arrived. */
const hangUp = async (port: number, bytes: string, isSeen: () => boolean): Promise<void> => {
  const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
  while (!isSeen()) await Bun.sleep(1);
  socket.destroy();
};

type Service = Awaited<ReturnType<typeof listening>>;

/** The fields of the log line of a route, as soon as there is one. */
const lineOf = async (service: Service, route: string) => {
  for (;;) {
    const fields = service.lines
      .map(({ parts }) => parts[1] as { readonly route: string; readonly status: number })
      .find((line) => line?.route === route);
    if (fields !== undefined) return fields;
    await Bun.sleep(1);
  }
};

const countOf = async (service: Service, labels: string): Promise<string | undefined> => {
  const response = await service.app.handle(new Request("http://localhost/metrics"));
  const name = `settlement_evidence_http_requests_total{${labels}}`;
  return (await response.text()).split("\n").find((line) => line.startsWith(name));
};

test("a client that disconnects during a read counts as 499 in log and metric", async () => {
  const service = await listening();
  service.ledger.fault = "hangs";
  const request = `GET /v1/escrows/${AGENT} HTTP/1.1\r\nHost: a\r\n\r\n`;
  await hangUp(service.port, request, () => service.ledger.reads > 0);
  const line = await lineOf(service, "/v1/escrows/{pda}");
  service.ledger.fault = null;
  expect(line).toMatchObject({ status: 499 });
  expect(line).not.toHaveProperty("problem");
  expect(service.lines.filter(({ level }) => level === "Error")).toEqual([]);
  const labels = 'method="GET",route="/v1/escrows/{pda}",status="499"';
  expect(await countOf(service, labels)).toEndWith(" 1");
});

test("a client that disconnects in the middle of its body counts as 499 too", async () => {
  const service = await listening();
  const head = "POST /v1/escrows/prepare HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  let began = false;
  const { handle } = service.app;
  Object.assign(service.app, {
    handle: (...given: Parameters<typeof handle>) => {
      began = true;
      return handle(...given);
    },
  });
  await hangUp(service.port, `${head}Content-Length: 900\r\n\r\n{"agent_owner":`, () => began);
  expect(await lineOf(service, "/v1/escrows/prepare")).toMatchObject({ status: 499 });
});

test("a sync continues after its client has left, and counts with its own status", async () => {
  const service = await listening();
  const sync = Context.get(service.context, IndexSync);
  const { request: run } = sync;
  const mayEnd = Promise.withResolvers<void>();
  let began = false;
  const gone = Promise.withResolvers<void>();
  Object.assign(sync, {
    request: Effect.suspend(() => {
      began = true;
      return Effect.andThen(
        Effect.promise(() => mayEnd.promise),
        run,
      );
    }),
  });
  const { handle } = service.app;
  Object.assign(service.app, {
    handle: (request: Request, ...more: [Connection]) => {
      request.signal.addEventListener("abort", () => gone.resolve());
      return handle(request, ...more);
    },
  });
  const request = "POST /v1/indexer/sync HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
  await hangUp(service.port, request, () => began);
  await gone.promise;
  mayEnd.resolve();
  expect(await lineOf(service, "/v1/indexer/sync")).toMatchObject({ status: 202 });
});
