import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type {
  ActionError,
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
} from "../../adapters/http/actions/action-contract.ts";
import { ActionsJson } from "../../adapters/http/actions/actions-json.ts";
import { schemaCheck } from "../../adapters/http/request/schema-check.ts";
import { localKey, LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { spawnLedger } from "../adapters/local-ledger/ledger-process.ts";
import { scanQrCode } from "../adapters/http/support/scan-qr-code.ts";
import { withDemoLedger } from "./support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
} from "./support/running-service.ts";
import { Refused, testWallet } from "./support/test-wallet.ts";

const PUBLIC_URL = "https://pay.example";

/** The demo data's escrows of the README: the pending one, which has expired a week later, and the released one. */
const PENDING = "EpfWbK4mHqwAxUYQ9o8Kp2Di27Pe2nD9CxxzP4rjBf7b";
const FULFILLED = "H4QKC5LxLZY7yRzSz39qtenAWWq9npiJe6uZbxS56uoG";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: Awaited<ReturnType<typeof runService>>;

beforeAll(async () => {
  directory = await temporaryDirectory();
  withDemoLedger(directory.path);
  const { child } = await spawnLedger(directory.path, "--skip-days", "8");
  child.kill("SIGTERM");
  await child.exited;
  service = await runService({ ...quietEnvironment(directory.path), PUBLIC_URL });
  await until(
    "the service is ready",
    () => fetch(`${service.url}/ready`).then(({ status }) => status),
    (status) => status === 200,
  );
}, 60_000);
afterAll(async () => {
  await service.stop();
  await directory.remove();
});

const walletOf = (label: string) =>
  testWallet(localKey(label), { publicUrl: PUBLIC_URL, serviceUrl: service.url });

const rpc = async <A>(method: string, params: ReadonlyArray<unknown>): Promise<A> => {
  const response = await fetch(service.rpcUrl, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return ((await response.json()) as { readonly result: A }).result;
};
const latestBlockhash = async (): Promise<string> =>
  (await rpc<{ value: { blockhash: string } }>("getLatestBlockhash", [])).value.blockhash;

/** Relays what a wallet signed, and waits until the ledger has it. */
const relay = async (signedTransaction: string) => {
  const response = await fetch(`${service.url}/v1/relay`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ signed_transaction: signedTransaction, confirm: true }),
  });
  return {
    status: response.status,
    body: (await response.json()) as { data?: { status: string }; rule?: string },
  };
};

const land = async (signedTransaction: string): Promise<void> => {
  const { status, body } = await relay(signedTransaction);
  expect([status, body.data?.status]).toEqual([202, "finalized"]);
};

type Read = { state: string; amount_stroops: string; agent_owner: string; archived: object | null };
const escrowAt = async (pda: string): Promise<Read> =>
  ((await (await fetch(`${service.url}/v1/escrows/${pda}`)).json()) as { data: Read }).data;

const terms = (nonce: string, more: Record<string, string> = {}) =>
  new URLSearchParams({
    merchant: localKey("merchant/forecast").address,
    mint: LOCAL_USDC_MINT,
    amount_stroops: "1500000",
    ttl_seconds: "3600",
    task_intent: "GET https://api.example.com/v1/quotes",
    nonce,
    ...more,
  }).toString();
const createLink = (scheme: string, query: string): string =>
  `${scheme}:${encodeURIComponent(`${PUBLIC_URL}/v1/actions/create?${query}`)}`;

/** What a wallet is refused with: the status and its one line. */
const refusalOf = async (asked: Promise<unknown>): Promise<readonly [number, string]> => {
  const failure = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(failure instanceof Refused)) throw new Error(`not refused: ${String(failure)}`);
  expect(failure.message).not.toContain("\n");
  return [failure.status, failure.message];
};

test("answers are of this contract's types, which are those of @solana/actions-spec", async () => {
  const answer = async <A>(path: string, init?: RequestInit): Promise<A> =>
    (await (await fetch(`${service.url}${path}`, init)).json()) as A;
  const path = `/v1/actions/refund/${PENDING}`;
  const asked = { account: walletOf("agent/trader").address } satisfies ActionPostRequest;
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

describe.each(["solana", "solana-action"])("a %s link", (scheme) => {
  test("creates an escrow, and a second tap pays nothing", async () => {
    const wallet = walletOf("agent/planner");
    const link = createLink(scheme, terms(`tapped twice by ${scheme}`));
    const shown = await wallet.show(link);
    expect(shown.disabled).toBeUndefined();
    for (const told of [
      localKey("merchant/forecast").address,
      "Skyline Forecast API",
      "a name that no other merchant has",
      LOCAL_USDC_MINT,
      "1.500000 USDC",
    ])
      expect(shown.label).toContain(told);
    const [first, second] = [
      await wallet.sign(link, await latestBlockhash()),
      await wallet.sign(link, await latestBlockhash()),
    ];
    const escrow = / in the escrow (\w+) /.exec(first.message)?.[1] ?? "";
    await land(first.signedTransaction);
    expect(await escrowAt(escrow)).toMatchObject({
      state: "Pending",
      amount_stroops: "1500000",
      agent_owner: wallet.address,
    });
    // The second tap signed before the first had landed: the ledger has one escrow for it all the same.
    if (second.signedTransaction !== first.signedTransaction)
      expect((await relay(second.signedTransaction)).body.rule).toBe("escrow_address_taken");
    const [status, message] = await refusalOf(wallet.sign(link, await latestBlockhash()));
    expect(status).toBe(409);
    expect(message).toBe(
      `This wallet has paid with this link before, into the escrow ${escrow}, and does not pay twice. Read that escrow. Send a fresh nonce only for another payment.`,
    );
  }, 60_000);
});

test("a link gives the very transaction of the prepare operation", async () => {
  const wallet = walletOf("agent/planner");
  const blockhash = await latestBlockhash();
  const response = await fetch(`${service.url}/v1/escrows/prepare?transaction=true`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ...Object.fromEntries(new URLSearchParams(terms("the same"))),
      ttl_seconds: 3600,
      agent_owner: wallet.address,
    }),
  });
  const { data } = (await response.json()) as { data: { transaction: { base64: string } } };
  const { signedTransaction } = await wallet.sign(
    createLink("solana", terms("the same")),
    blockhash,
  );
  expect(signedTransaction).toBe(wallet.signed(data.transaction.base64, blockhash));
});

test("every command of docs/wallets.md answers what the page shows", async () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/wallets.md"), "utf8").split("\n");
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

test("the QR code on the page of an expired escrow refunds it, by a wallet that gets nothing", async () => {
  const page = await fetch(`${service.url}/v1/evidence/${PENDING}`, {
    headers: { accept: "text/html", host: "evil.example", "x-forwarded-host": "evil.example" },
  });
  const html = await page.text();
  // The packet's address follows the Host header, and the wallet's link does not.
  expect(html).toContain(`http://evil.example/v1/evidence/${PENDING}`);
  const link = scanQrCode(html, "QR code that runs the refund");
  expect(link).toBe(`solana:${PUBLIC_URL}/v1/actions/refund/${PENDING}`);
  expect(html).toContain(`<a href="${link}">`);
  const { agent_owner, amount_stroops } = await escrowAt(PENDING);
  const wallet = walletOf("merchant/places");
  expect(wallet.address as string).not.toBe(agent_owner);
  const shown = await wallet.show(link);
  expect(shown.disabled).toBeUndefined();
  expect(shown.label).toEndWith(` to ${agent_owner}`);
  expect(shown.description).toContain("Nothing goes to whoever runs the refund");
  const balanceOf = async (owner: string): Promise<bigint> => {
    const { value } = await rpc<{
      value: ReadonlyArray<{
        account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } };
      }>;
    }>("getTokenAccountsByOwner", [owner, { mint: LOCAL_USDC_MINT }, { encoding: "jsonParsed" }]);
    return value.reduce(
      (sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount),
      0n,
    );
  };
  const before = await balanceOf(agent_owner);
  const { signedTransaction } = await wallet.sign(link, await latestBlockhash());
  await land(signedTransaction);
  expect((await escrowAt(PENDING)).state).toBe("Refunded");
  expect(await balanceOf(agent_owner)).toBe(before + BigInt(amount_stroops));
  const after = await wallet.show(link);
  expect([after.disabled, after.label]).toEqual([true, "Refund not possible now"]);
  expect(after.error?.message).toContain("Nothing is left to settle.");
  expect((await refusalOf(wallet.sign(link, await latestBlockhash())))[0]).toBe(409);
}, 60_000);

test("a link archives a settled escrow, and only once", async () => {
  const wallet = walletOf("agent/trader");
  const linkOf = (scheme: string) => `${scheme}:${PUBLIC_URL}/v1/actions/archive/${FULFILLED}`;
  for (const scheme of ["solana", "solana-action"]) {
    const shown = await wallet.show(linkOf(scheme));
    expect(shown.disabled).toBeUndefined();
    expect(shown.description).toMatch(/ lamports of rent go to \w+, who paid them\./);
  }
  const signed = await wallet.sign(linkOf("solana-action"), await latestBlockhash());
  await land(signed.signedTransaction);
  expect((await escrowAt(FULFILLED)).archived).not.toBeNull();
  const after = await wallet.show(linkOf("solana"));
  expect([after.disabled, after.error?.message]).toEqual([
    true,
    "The escrow was settled and archived, and cannot change. Nothing is left to do. Read the escrow or its evidence.",
  ]);
  const [status] = await refusalOf(wallet.sign(linkOf("solana"), await latestBlockhash()));
  expect(status).toBe(409);
}, 60_000);

describe("wrong input is refused in one line, before anything is signed", () => {
  const wallet = () => walletOf("agent/planner");
  const without = (name: string): string => {
    const query = new URLSearchParams(terms("wrong"));
    query.delete(name);
    return query.toString();
  };
  const corrected = (fault: string): string =>
    `The request breaks the contract. ${fault}. Ask for a corrected link, or use another wallet.`;

  test.each([
    ["no nonce", () => without("nonce"), 422, corrected("nonce is required")],
    ["an empty nonce", () => terms(""), 422, corrected("nonce must not be empty")],
    ["no merchant", () => without("merchant"), 422, corrected("merchant is required")],
    [
      "a merchant that is no address",
      () => terms("wrong", { merchant: "O0Il" }),
      422,
      "An address is not valid. merchant must be a base58 address of 32 bytes. Ask for a corrected link, or use another wallet.",
    ],
    [
      "an amount of nothing",
      () => terms("wrong", { amount_stroops: "0" }),
      422,
      corrected(
        "amount_stroops must be a decimal integer from 1 to 18446744073709551615 without sign or leading zero",
      ),
    ],
    [
      "a time to live that is no number",
      () => terms("wrong", { ttl_seconds: "1h" }),
      422,
      corrected("ttl_seconds must be an integer"),
    ],
    [
      "a misspelt parameter",
      () => `${terms("wrong")}&nonse=2`,
      422,
      corrected(
        "nonse is not known; known are merchant, mint, amount_stroops, ttl_seconds, task_intent, nonce, attestor",
      ),
    ],
    ["a second nonce", () => `${terms("wrong")}&nonce=2`, 422, corrected("nonce is given twice")],
  ] as const)("%s", async (_, query, status, message) => {
    const link = createLink("solana", query());
    expect(await refusalOf(wallet().show(link))).toEqual([status, message]);
    expect(await refusalOf(wallet().sign(link, await latestBlockhash()))).toEqual([
      status,
      message,
    ]);
  });

  test("a merchant that takes no escrows disables the action, with the reason", async () => {
    for (const [label, reason] of [
      ["merchant/places", "Choose another merchant: a suspended one takes no new escrows."],
      ["agent/trader", "Have the merchant register first."],
    ] as const) {
      const link = createLink(
        "solana-action",
        terms("wrong", { merchant: localKey(label).address }),
      );
      const shown = await wallet().show(link);
      expect([shown.disabled, shown.links]).toEqual([true, undefined]);
      expect(shown.error?.message).toEndWith(reason);
      const [status, message] = await refusalOf(wallet().sign(link, await latestBlockhash()));
      expect([status, message]).toEqual([409, shown.error?.message ?? ""]);
    }
  });

  test("an amount that the account does not have", async () => {
    const link = createLink("solana", terms("too much", { amount_stroops: "999999999999" }));
    expect((await wallet().show(link)).disabled).toBeUndefined();
    const [status, message] = await refusalOf(wallet().sign(link, await latestBlockhash()));
    expect(status).toBe(409);
    expect(message).toEndWith("Fund the agent's token account.");
  });

  test("an account that is none, or is missing", async () => {
    const url = `${service.url}/v1/actions/refund/${PENDING}`;
    for (const [body, said] of [
      ['{"account":"O0Il"}', "account must be a base58 address of 32 bytes."],
      ["{}", "account is required."],
      ["{", "Send one JSON object, encoded as UTF-8."],
    ] as const) {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(((await response.json()) as ActionError).message).toContain(said);
    }
  });

  test("members that a later specification adds are not refused", async () => {
    const response = await fetch(`${service.url}/v1/actions/create?${terms("added")}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ type: "transaction", account: wallet().address, data: { a: "b" } }),
    });
    expect(response.status).toBe(200);
  });

  test("an escrow that is none", async () => {
    const link = (pda: string) => `solana:${PUBLIC_URL}/v1/actions/refund/${pda}`;
    for (const [pda, status, said] of [
      ["O0Il", 422, "pda must be a base58 address of 32 bytes."],
      [wallet().address, 404, "The ledger has no escrow at this address."],
      [LOCAL_USDC_MINT, 422, "The account at this address is not an escrow of this deployment."],
    ] as const) {
      const refused = await refusalOf(wallet().show(link(pda)));
      expect([refused[0], refused[1].includes(said)]).toEqual([status, true]);
    }
  });
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
  const { icon, links } = await walletOf("agent/planner").show(createLink("solana", terms("host")));
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
  const genesisHash = await rpc<string>("getGenesisHash", []);
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
