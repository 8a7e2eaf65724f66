import { expect, test } from "bun:test";
import { dataBy, requestOf } from "../../../client/service/operation.ts";
import { requestsTo } from "../../../client/service/requests.ts";

const PDA = "9kKqMtFDcsVU5f4btXxriXm3NB5eqvvxLdQeyc36rLpz";

test("members go into the path, the query of a GET and the body of a POST", () => {
  expect(requestOf("GET /v1/escrows/{pda}", { pda: PDA })).toEqual([`/v1/escrows/${PDA}`, {}]);
  expect(requestOf("GET /v1/indexer", { merchant: "a&b", refundable: true, limit: 10 })).toEqual([
    "/v1/indexer?merchant=a%26b&refundable=true&limit=10",
    {},
  ]);
  const operation = "POST /v1/escrows/{pda}/refund/prepare?transaction=true";
  const { signal } = new AbortController();
  expect(requestOf(operation, { pda: PDA, payer: "b" }, { signal })).toEqual([
    `/v1/escrows/${PDA}/refund/prepare?transaction=true`,
    { body: { payer: "b" }, signal },
  ]);
});

test("an operation or a member that the contract does not have does not compile", () => {
  const requests = requestsTo("http://127.0.0.1:1");
  const wrong = [
    // @ts-expect-error There is no such path.
    () => requestOf("GET /v1/escrow/{pda}", { pda: PDA }),
    // @ts-expect-error It has no transaction.
    () => requestOf("GET /v1/escrows/{pda}?transaction=true", { pda: PDA }),
    // @ts-expect-error The path needs `pda`.
    () => requestOf("GET /v1/escrows/{pda}", {}),
    // @ts-expect-error No member is named `amount`.
    () => requestOf("POST /v1/escrows/{pda}/attestation/prepare", { pda: PDA, amount: "1" }),
    // @ts-expect-error A limit is a number.
    () => requestOf("GET /v1/indexer", { limit: "10" }),
    async () => {
      const found = await dataBy(requests, "GET /v1/escrows/{pda}", { pda: PDA });
      // @ts-expect-error An escrow has no such member.
      return found.amount;
    },
  ];
  expect(wrong).toHaveLength(6);
});
