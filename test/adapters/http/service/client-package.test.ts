import { expect, test } from "bun:test";
import { Effect } from "effect";
import { ClientPackageUnavailable } from "../../../../ports/client-package.ts";
import { checkedClient, makeService } from "../support/service.ts";

const PATH = "/client/settlement-evidence.tgz";

test("the client package comes with its validator, and not again to who has it", async () => {
  const service = await makeService();
  const client = await checkedClient(service);
  const response = await client.send(PATH);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/octet-stream");
  expect(await response.text()).toBe("a package");
  const etag = response.headers.get("etag") ?? "";
  const again = await client.send(PATH, { headers: { "if-none-match": etag } });
  expect([again.status, again.headers.get("etag")]).toEqual([304, etag]);
  await service.runtime.dispose();
});

test("a package that cannot be built is a problem of its own", async () => {
  const service = await makeService({
    clientPackage: { bytes: Effect.fail(new ClientPackageUnavailable({ cause: "no compiler" })) },
  });
  const client = await checkedClient(service);
  const response = await client.send(PATH);
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ code: "client_package_unavailable" });
  await service.runtime.dispose();
});
