import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type {
  ActionGetResponse,
  ActionPostRequest,
  ActionsJson as SpecActionsJson,
  TransactionResponse,
} from "@solana/actions-spec";
import type { Static } from "@sinclair/typebox";
import {
  ActionMetadata,
  type ActionRequest,
  ActionTransaction,
} from "../../../adapters/http/actions/action-contract.ts";
import { ActionsJson } from "../../../adapters/http/actions/actions-json.ts";
import { schemaCheck } from "../../../adapters/http/request/schema-check.ts";
import {
  createLink,
  FULFILLED,
  PENDING,
  PUBLIC_URL,
  terms,
  walletService,
} from "./wallet-service.ts";

let service: Awaited<ReturnType<typeof walletService>>;
beforeAll(async () => {
  service = await walletService();
}, 60_000);
afterAll(() => service.stop(), 60_000);

test("answers are of this contract's types, which are those of @solana/actions-spec", async () => {
  const answer = async <A>(path: string, init?: RequestInit): Promise<A> =>
    (await (await fetch(`${service.url}${path}`, init)).json()) as A;
  const path = `/v1/actions/refund/${PENDING}`;
  const asked = { account: service.wallet("agent/trader").address } satisfies ActionPostRequest;
  const request: Static<typeof ActionRequest> = asked satisfies ActionPostRequest;
  const shown = await answer<Static<typeof ActionMetadata>>(path);
  const given = await answer<Static<typeof ActionTransaction>>(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
  });
  const mapped = await answer<Static<typeof ActionsJson>>("/actions.json");
  expect((shown satisfies ActionGetResponse).type).toBe("action");
  expect((given satisfies TransactionResponse).type).toBe("transaction");
  expect((mapped satisfies SpecActionsJson).rules).toHaveLength(1);
  const { transaction, ...rest } = given;
  expect(transaction).not.toBe("");
  // @ts-expect-error: an answer without a transaction is none.
  expect((rest satisfies TransactionResponse).message).toBeString();
  for (const [schema, value] of [
    [ActionMetadata, shown],
    [ActionTransaction, given],
    [ActionsJson, mapped],
  ] as const)
    expect(schemaCheck(schema)(value)).toEqual({ value });
});

test("every command of docs/wallets.md answers what the page shows", async () => {
  const page = readFileSync(join(import.meta.dir, "../../../docs/wallets.md"), "utf8").split("\n");
  const commands = page.flatMap((line, at) => {
    const [, quoted, plain, body] =
      /^ {4}curl -s (?:'([^']+)'|(\S+))(?: .* -d '([^']+)')?$/.exec(line) ?? [];
    const path = (quoted ?? plain)?.replace("http://127.0.0.1:3000", "");
    return path === undefined ? [] : [{ path, body, shown: page[at + 1] ?? "" }];
  });
  expect(commands).toHaveLength(2);
  for (const { path, body, shown } of commands) {
    const response = await fetch(`${service.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      ...(body === undefined ? {} : { body, headers: { "content-type": "application/json" } }),
    });
    const answer = await response.text();
    // `…` stands for what is left out, and the page has a public address of its own.
    for (const part of shown.replaceAll("https://evidence.example.com", PUBLIC_URL).split("…"))
      expect(answer).toContain(part.trim());
  }
});

test("no Host header gets into an icon, a button or a link", async () => {
  const headers = { host: "evil.example", "x-forwarded-host": "evil.example" };
  const ask = async (path: string): Promise<string> =>
    (await fetch(`${service.url}${path}`, { headers })).text();
  for (const path of [
    `/v1/actions/create?${terms("host")}`,
    `/v1/actions/refund/${PENDING}`,
    `/v1/actions/archive/${FULFILLED}`,
    "/actions.json",
  ])
    expect(await ask(path)).not.toContain("evil.example");
  const { icon, links } = await service
    .wallet("agent/planner")
    .show(createLink("solana", terms("host")));
  expect(icon).toBe(`${PUBLIC_URL}/icon.svg`);
  expect(links?.actions.map(({ href }) => href)).toEqual([`/v1/actions/create?${terms("host")}`]);
  expect(links?.actions[0]?.label).toBe("Pay 1.500000 USDC");
});

test("the icon is an SVG that a page of any origin may show", async () => {
  const response = await fetch(`${service.url}/icon.svg`);
  expect(response.headers.get("content-type")).toBe("image/svg+xml");
  expect(response.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
  expect(await response.text()).toStartWith("<svg ");
});

test("actions.json maps every action to itself", async () => {
  const { rules } = (await (await fetch(`${service.url}/actions.json`)).json()) as SpecActionsJson;
  expect(rules).toEqual([{ pathPattern: "/v1/actions/**", apiPath: "/v1/actions/**" }]);
});

test("every action answers OPTIONS and requests as Solana Actions asks", async () => {
  const genesisHash = await service.rpc<string>("getGenesisHash", []);
  for (const [path, status] of [
    [`/v1/actions/create?${terms("cors")}`, 200],
    [`/v1/actions/refund/${PENDING}`, 200],
    [`/v1/actions/archive/${FULFILLED}`, 200],
    ["/v1/actions/create", 422],
    ["/actions.json", 200],
  ] as const) {
    const options = await fetch(`${service.url}${path}`, { method: "OPTIONS" });
    const answer = await fetch(`${service.url}${path}`, {
      headers: { origin: "https://a.example" },
    });
    expect([options.status, answer.status]).toEqual([204, status]);
    for (const { headers } of [options, answer]) {
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("x-action-version")).toBe("2.4");
      expect(headers.get("x-blockchain-ids")).toBe(`solana:${genesisHash.slice(0, 32)}`);
    }
    expect(options.headers.get("access-control-allow-methods")).toBe("GET,POST,PUT,OPTIONS");
    const allowed = options.headers.get("access-control-allow-headers")?.split(", ") ?? [];
    for (const name of ["content-type", "authorization", "content-encoding", "accept-encoding"])
      expect(allowed).toContain(name);
  }
});
