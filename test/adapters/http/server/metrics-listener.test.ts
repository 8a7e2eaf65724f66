import { expect, test } from "bun:test";
import { createHttpApp } from "../../../../adapters/http/server/http-app.ts";
import { jsonOf, makeService } from "../support/service.ts";

test("a listener of their own serves only the metrics, and the main listener does not serve them", async () => {
  const main = await makeService({ serves: "all_but_metrics" });
  const metrics = createHttpApp({ context: main.context, serves: "metrics" });
  const status = async (app: typeof metrics, path: string, method = "GET") =>
    (await app.handle(new Request(`http://localhost${path}`, { method }))).status;

  expect(await status(main.app, "/metrics")).toBe(404);
  expect(await status(main.app, "/metrics", "OPTIONS")).toBe(404);
  expect(await status(main.app, "/v1")).toBe(200);
  const document = await main.app.handle(new Request("http://localhost/openapi.json"));
  const { paths } = await jsonOf<{ readonly paths: object }>(document);
  expect(Object.keys(paths)).not.toContain("/metrics");

  for (const path of ["/", "/v1", "/health", "/docs", "/docs/json", "/openapi.json", "/v1/relay"])
    expect([path, await status(metrics, path)]).toEqual([path, 404]);
  const answer = await metrics.handle(new Request("http://localhost/metrics"));
  // Both listeners count in the same registry.
  expect(await answer.text()).toContain(
    'settlement_evidence_http_requests_total{method="GET",route="/v1",status="200"} 1',
  );
  await main.runtime.dispose();
});
