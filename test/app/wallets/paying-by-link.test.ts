import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ActionError } from "@solana/actions-spec";
import { localKey, LOCAL_USDC_MINT } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import {
  createLink,
  PENDING,
  PUBLIC_URL,
  refusalOf,
  terms,
  walletService,
} from "./wallet-service.ts";

let service: Awaited<ReturnType<typeof walletService>>;
beforeAll(async () => {
  service = await walletService();
}, 60_000);
afterAll(() => service.stop(), 60_000);

describe.each(["solana", "solana-action"])("a %s link", (scheme) => {
  test("creates an escrow, and a second tap pays nothing", async () => {
    const wallet = service.wallet("agent/planner");
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
      await wallet.sign(link, await service.latestBlockhash()),
      await wallet.sign(link, await service.latestBlockhash()),
    ];
    const escrow = / in the escrow (\w+) /.exec(first.message)?.[1] ?? "";
    await service.land(first.signedTransaction);
    expect(await service.escrowAt(escrow)).toMatchObject({
      state: "Pending",
      amount_stroops: "1500000",
      agent_owner: wallet.address,
    });
    // The second tap signed before the first had landed: the ledger has one escrow for it all the same.
    if (second.signedTransaction !== first.signedTransaction)
      expect((await service.relay(second.signedTransaction)).body.rule).toBe(
        "escrow_address_taken",
      );
    const [status, message] = await refusalOf(wallet.sign(link, await service.latestBlockhash()));
    expect(status).toBe(409);
    expect(message).toBe(
      `This wallet has paid with this link before, into the escrow ${escrow}, and does not pay twice. Read that escrow. Send a fresh nonce only for another payment.`,
    );
  }, 60_000);
});

test("a link gives the very transaction of the prepare operation", async () => {
  const wallet = service.wallet("agent/planner");
  const blockhash = await service.latestBlockhash();
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

describe("wrong input is refused in one line, before anything is signed", () => {
  const wallet = () => service.wallet("agent/planner");
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
    expect(await refusalOf(wallet().sign(link, await service.latestBlockhash()))).toEqual([
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
      const [status, message] = await refusalOf(
        wallet().sign(link, await service.latestBlockhash()),
      );
      expect([status, message]).toEqual([409, shown.error?.message ?? ""]);
    }
  });

  test("an amount that the account does not have", async () => {
    const link = createLink("solana", terms("too much", { amount_stroops: "999999999999" }));
    expect((await wallet().show(link)).disabled).toBeUndefined();
    const [status, message] = await refusalOf(wallet().sign(link, await service.latestBlockhash()));
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
