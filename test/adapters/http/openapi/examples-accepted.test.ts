import { expect, test } from "bun:test";
import { SAMPLE_SIGNATURE } from "../../../../adapters/http/relay/relay-contract.ts";
import {
  sampleEscrow,
  sampleMerchant,
  sampleParties,
} from "../../../../adapters/http/openapi/sample-values.ts";
import { walletAccount } from "../../../doubles/accounts.ts";
import { checkedClient, dataOf, jsonOf, makeSyncedService } from "../support/service.ts";

type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: { readonly examples?: ReadonlyArray<string | number> };
};
type Operation = {
  readonly operationId: string;
  readonly parameters?: ReadonlyArray<Parameter>;
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly example: unknown }>>;
  };
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

/** The path with the example of each parameter in it, and of each in the query that is required. */
const pathOf = (template: string, { operationId, parameters = [] }: Operation): string => {
  const exampleOf = ({ name, schema }: Parameter): string => {
    const [example] = schema.examples ?? [];
    if (example === undefined) throw new Error(`${operationId}: ${name} has no example`);
    return String(example);
  };
  const path = parameters
    .filter((parameter) => parameter.in === "path")
    .reduce((text, each) => text.replace(`{${each.name}}`, exampleOf(each)), template);
  const query = parameters
    .filter((parameter) => parameter.in === "query" && parameter.required === true)
    .map((each): [string, string] => [each.name, exampleOf(each)]);
  return query.length === 0 ? path : `${path}?${new URLSearchParams(query)}`;
};

const LOG_OPERATIONS = /^read(EscrowProof|Log)/;

test("the service accepts every example request of its document", async () => {
  const service = await makeSyncedService({ publicUrl: "https://settlement.example" });
  const { send, postJson } = await checkedClient(service);
  service.seed({ merchants: [sampleMerchant()] });
  const { agent } = sampleParties();
  service.ledger.put(walletAccount(agent, 1_000_000_000n));
  service.ledger.fate = { slot: 1000n, commitment: "finalized", error: null };

  const { paths } = await jsonOf<Document>(await send("/openapi.json"));
  const answers: Record<string, number | string> = {};
  const ask = async (template: string, method: string, operation: Operation) => {
    const path = pathOf(template, operation);
    const { content } = operation.requestBody ?? {};
    const { example } = content?.["application/json"] ?? {};
    const text = content?.["text/plain"]?.example;
    const response =
      example === undefined
        ? await send(path, {
            method: method.toUpperCase(),
            ...(typeof text === "string" ? { body: text } : {}),
          })
        : await postJson(path, example);
    // No single escrow is in the state that every prepare operation needs.
    answers[operation.operationId] =
      response.status === 409
        ? ((await response.json()) as { readonly code: string }).code
        : response.status;
    if (!response.bodyUsed) await response.body?.cancel();
  };
  // The example transaction creates the escrow of the other examples.
  const relay = paths["/v1/relay"]?.["post"];
  if (relay !== undefined) await ask("/v1/relay", "post", relay);
  service.seed({ escrows: [sampleEscrow()] });
  for (const [template, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods))
      if (operation !== relay) await ask(template, method, operation);
  const refused = Object.entries(answers).filter(
    ([operation, answer]) =>
      !(answer === "wrong_state" && /^(prepare|run)/.test(operation)) &&
      // This service publishes no log; test/adapters/http/log asks one that does.
      !(Number(answer) === 404 && LOG_OPERATIONS.test(operation)) &&
      Number(answer) !== 200 &&
      Number(answer) !== 202,
  );
  expect(refused).toEqual([]);
  expect(Object.keys(answers).length).toBe(service.app.operations.length);

  // The outcome in the examples is that of the transaction in the example request.
  const outcome = await send(`/v1/relay/${SAMPLE_SIGNATURE}`);
  expect(await dataOf(outcome)).toMatchObject({ status: "landed", signature: SAMPLE_SIGNATURE });
  await service.runtime.dispose();
});
