import { expect, test } from "bun:test";
import { merchant, prepareBody } from "../support/parties.ts";
import { checkedClient, dataOf, makeService } from "../support/service.ts";

const PACKAGE = "/client/settlement-evidence.tgz";

test.each([
  [null, PACKAGE],
  ["https://pay.example", `https://pay.example${PACKAGE}`],
])(
  "with the public address %p the client is at %s, never at a Host header's",
  async (publicUrl, at) => {
    const service = await makeService({ publicUrl });
    try {
      const client = await checkedClient(service);
      service.seed({ merchants: [merchant()] });
      const headers = { host: "evil.example", "x-forwarded-host": "evil.example" };
      for (const query of ["", "?preflight=true"]) {
        const path = `/v1/escrows/prepare${query}`;
        const response = await client.postJson(path, prepareBody(), headers);
        const prepared = await dataOf<{ readonly sdk_call: { readonly install: string } }>(
          response,
        );
        expect(prepared.sdk_call.install).toBe(at);
      }
    } finally {
      await service.runtime.dispose();
    }
  },
);
