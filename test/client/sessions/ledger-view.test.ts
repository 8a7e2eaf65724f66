import { beforeEach, describe, expect, test } from "bun:test";
import {
  accountNews,
  type NewsSocket,
  socketUrlOf,
} from "../../../client/sessions/seller/account-news.ts";
import {
  ledgerLooks,
  type LookAt,
  type SeenEscrow,
} from "../../../client/sessions/seller/ledger-looks.ts";
import { ledgerView } from "../../../client/sessions/seller/ledger-view.ts";
import { marginOf, sessionRefusal } from "../../../client/sessions/seller/take-session.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import type { ClientClock } from "../../../client/service/requests.ts";
import { ledgerNodes, nodeUnusable } from "../../../client/service/ledger-nodes.ts";
import { requestsTo } from "../../../client/service/requests.ts";
import { type Address, addressFromBytes } from "../../../core/domain/address.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { Merchant } from "../../../core/domain/merchant/merchant.ts";
import { merchantAddress } from "../../../core/protocol/addresses/addresses.ts";
import { deploymentIn } from "../../../client/pay/payment-terms.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import type { TokenAccount } from "../../../core/protocol/accounts/token.ts";
import { ESCROW } from "../../doubles/session-sides.ts";
import { TRUST } from "../support/fake-service.ts";

const { address, merchant, attestor, mint, createdAt, expiresAt } = ESCROW;
const TAKEN = { merchant, attestor, mint };
const OTHER = addressFromBytes(new Uint8Array(32).fill(9));
const VAULT: TokenAccount = {
  mint,
  owner: address,
  amount: ESCROW.amount,
  frozen: false,
  delegate: null,
  closeAuthority: null,
};
const MARGIN = marginOf(ESCROW);
const MERCHANT: Merchant = {
  address: merchantAddress(deploymentIn(policyIn(TRUST)), merchant).address,
  bump: 255,
  wallet: merchant,
  name: "Forecast",
  status: "Active",
  attestor,
  previousAttestor: null,
  attestorSince: createdAt,
  registeredAt: createdAt,
  updatedAt: createdAt,
  reputation: 0,
  slashes: 0,
  deliveries: 0n,
  partialDeliveries: 0n,
  volume: 0n,
  revokedSeq: 0n,
};
const REVOKED: Merchant = { ...MERCHANT, revokedSeq: 7n };
const SUSPENDED: Merchant = { ...MERCHANT, status: "Suspended" };

describe("the margin before a session's end", () => {
  for (const [ttl, margin] of [
    [600n, 60n],
    [1_200n, 120n],
    [9_000n, 900n],
    [604_800n, 900n],
  ] as const)
    test(`is ${margin} s of ${ttl}`, () => {
      expect(marginOf({ createdAt: 5n, expiresAt: 5n + ttl })).toBe(margin);
    });
});

describe("a session is taken", () => {
  const codeOf = (
    changes: Partial<Escrow> = {},
    vault: Partial<TokenAccount> | null = {},
    now = createdAt,
    merchant: Merchant | null = MERCHANT,
  ) => {
    const held = vault === null ? undefined : { ...VAULT, ...vault };
    const around = { vault: held, merchant };
    return sessionRefusal({ ...ESCROW, ...changes }, around, TAKEN, now)?.code ?? "taken";
  };
  const smallOrder = addressFromBytes(Uint8Array.from([1, ...new Uint8Array(31)]));
  const cases: ReadonlyArray<readonly [string, string, string]> = [
    ["with a margin before its end", codeOf(), "taken"],
    ["until its margin", codeOf({}, {}, expiresAt - MARGIN - 1n), "taken"],
    ["not from its margin on", codeOf({}, {}, expiresAt - MARGIN), "session_ended"],
    ["not without a session key", codeOf({ sessionKey: null }), "session_unknown"],
    ["not for another merchant", codeOf({ merchant: OTHER }), "session_unknown"],
    ["not with another attestor", codeOf({ attestor: OTHER }), "session_unknown"],
    ["not in another mint", codeOf({ mint: OTHER }), "session_unknown"],
    ["not with a key of small order", codeOf({ sessionKey: smallOrder }), "session_unknown"],
    ["not below 600 s", codeOf({ expiresAt: createdAt + 599n }), "session_unknown"],
    ["of 600 s", codeOf({ expiresAt: createdAt + 600n }), "taken"],
    ["not once it is closed", codeOf({ closesAt: expiresAt }), "session_ended"],
    ["not once it is settled", codeOf({ state: "Refunded" }), "session_ended"],
    ["not without its vault", codeOf({}, null), "session_unknown"],
    ["not when a unit is missing", codeOf({}, { amount: VAULT.amount - 1n }), "session_unknown"],
    [
      "with what is left after a capture",
      codeOf({ released: 1n }, { amount: VAULT.amount - 1n }),
      "taken",
    ],
    ["not without its merchant", codeOf({}, {}, createdAt, null), "session_unknown"],
    ["not when its attestor is revoked", codeOf({}, {}, createdAt, REVOKED), "attestor_revoked"],
    [
      "when an attestor before it was revoked",
      codeOf({ createdSeq: 8n }, {}, createdAt, REVOKED),
      "taken",
    ],
    [
      "not when its merchant is suspended",
      codeOf({}, {}, createdAt, SUSPENDED),
      "merchant_suspended",
    ],
    ["not when its vault is frozen", codeOf({}, { frozen: true }), "session_unknown"],
    ["not when others may spend of it", codeOf({}, { delegate: OTHER }), "session_unknown"],
    ["not when others may close it", codeOf({}, { closeAuthority: OTHER }), "session_unknown"],
  ];
  for (const [what, code, expected] of cases) test(what, () => expect(code).toBe(expected));
});

/** A clock that only the test moves; pauses wait for that. */
const steppedClock = () => {
  let now = 1_000_000;
  const waiting: Array<{ readonly at: number; readonly wake: () => void }> = [];
  const clock: ClientClock = {
    nowMs: () => now,
    pause: (ms, signal) =>
      new Promise((resolve, reject) => {
        waiting.push({ at: now + ms, wake: resolve });
        signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      }),
  };
  const pass = (ms: number): void => {
    now += ms;
    for (const { at, wake } of waiting) if (at <= now) wake();
  };
  return { clock, pass };
};

describe("a seller's view", () => {
  let time: ReturnType<typeof steppedClock>;
  let shown: Map<Address, SeenEscrow>;
  let looks: number;
  let isDown: boolean;
  let slot: number;
  let ledgerTime: bigint;
  let registered: Merchant;
  beforeEach(() => {
    registered = MERCHANT;
    time = steppedClock();
    shown = new Map([[address, { escrow: ESCROW, vault: VAULT }]]);
    looks = 0;
    isDown = false;
    slot = 1;
    ledgerTime = createdAt;
  });
  const lookAt: LookAt = (escrows) => {
    looks++;
    if (isDown) return Promise.reject(nodeUnusable("down"));
    const seen = new Map(escrows.map((each) => [each, shown.get(each) ?? null]));
    return Promise.resolve({ slot: slot++, ledgerTime, seen, merchant: registered });
  };
  const viewOf = () =>
    ledgerView({
      policy: policyIn(TRUST),
      taken: TAKEN,
      lookAt,
      clock: time.clock,
      news: null,
    });
  const codeFor = async (view: ReturnType<typeof viewOf>, escrow = address): Promise<string> => {
    const answer = await view.session(escrow);
    return "refusal" in answer ? answer.refusal.code : "taken";
  };

  test("looks once at a session, and answers all its further calls from memory", async () => {
    const view = viewOf();
    const all = await Promise.all(Array.from({ length: 20 }, () => codeFor(view)));
    expect(new Set(all)).toEqual(new Set(["taken"]));
    expect([await codeFor(view), looks]).toEqual(["taken", 1]);
  });

  test("sees at its next look that the agent has closed the session", async () => {
    const view = viewOf();
    expect(await codeFor(view)).toBe("taken");
    shown.set(address, { escrow: { ...ESCROW, closesAt: createdAt + 900n }, vault: VAULT });
    expect(await codeFor(view)).toBe("taken");
    await view.refresh([]);
    expect(await codeFor(view)).toBe("session_ended");
  });

  test("sees at its next look that the attestor is revoked, and that the merchant is suspended", async () => {
    const view = viewOf();
    expect(await codeFor(view)).toBe("taken");
    for (const [now, code] of [
      [SUSPENDED, "merchant_suspended"],
      [MERCHANT, "taken"],
      [{ ...MERCHANT, revokedSeq: ESCROW.createdSeq }, "attestor_revoked"],
    ] as const) {
      registered = now;
      await view.refresh([]);
      expect(await codeFor(view)).toBe(code);
    }
  });

  test("an older look that comes late opens nothing again", async () => {
    const view = viewOf();
    await codeFor(view);
    slot = 9;
    shown.set(address, { escrow: { ...ESCROW, closesAt: createdAt + 900n }, vault: VAULT });
    await view.refresh([]);
    slot = 5;
    shown.set(address, { escrow: ESCROW, vault: VAULT });
    await view.refresh([]);
    expect(await codeFor(view)).toBe("session_ended");
  });

  test("answers from memory while no node answers, for half the margin, and then refuses", async () => {
    const view = viewOf();
    await codeFor(view);
    isDown = true;
    time.pass(Number(MARGIN) * 500);
    expect([await codeFor(view), looks]).toEqual(["taken", 1]);
    time.pass(1);
    expect([await codeFor(view), looks]).toEqual(["ledger_out_of_reach", 2]);
    // A node that does not answer is not asked for each call.
    expect([await codeFor(view), looks]).toEqual(["ledger_out_of_reach", 2]);
    isDown = false;
    time.pass(2_000);
    expect(await codeFor(view)).toBe("taken");
  });

  test("ends a session at its margin without another look, by the ledger's time and what passed since", async () => {
    ledgerTime = expiresAt - MARGIN - 10n;
    const view = viewOf();
    expect(await codeFor(view)).toBe("taken");
    time.pass(9_999);
    expect(await codeFor(view)).toBe("taken");
    time.pass(1);
    expect([await codeFor(view), looks]).toEqual(["session_ended", 1]);
  });

  test("looks at what is no session once a second", async () => {
    const view = viewOf();
    expect(await codeFor(view, OTHER)).toBe("session_unknown");
    expect([await codeFor(view, OTHER), looks]).toEqual(["session_unknown", 1]);
    time.pass(1_000);
    expect([await codeFor(view, OTHER), looks]).toEqual(["session_unknown", 2]);
  });

  test("looks up sixteen unknown escrows at once and no more", async () => {
    const view = viewOf();
    const strangers = Array.from({ length: 17 }, (_, i) =>
      addressFromBytes(new Uint8Array(32).fill(100 + i)),
    );
    const codes = await Promise.all(strangers.map((each) => codeFor(view, each)));
    expect(codes.filter((code) => code === "ledger_out_of_reach")).toHaveLength(1);
    expect(looks).toBe(16);
  });
});

describe("looks at nodes", () => {
  const policy = policyIn(TRUST);
  const clockData = (unix: bigint): string => {
    const data = new Uint8Array(40);
    new DataView(data.buffer).setBigInt64(32, unix, true);
    return encodeBase64(data);
  };
  type Node = { genesis?: string; slot: number; unix: bigint; status?: number };
  const looking = (nodes: ReadonlyArray<Node>) => {
    const time = steppedClock();
    const rpc = nodes.map((_, i) => `http://node-${i}.example`);
    const fetch = (url: string, init: RequestInit): Promise<Response> => {
      const node = nodes[rpc.findIndex((each) => url.startsWith(each))];
      if (node === undefined) throw new Error("no node");
      if (node.status !== undefined)
        return Promise.resolve(new Response("", { status: node.status }));
      const { method } = JSON.parse(init.body as string) as { readonly method: string };
      const account = { owner: OTHER, data: [clockData(node.unix), "base64"] };
      const result =
        method === "getGenesisHash"
          ? (node.genesis ?? policy.genesisHash)
          : { context: { slot: node.slot }, value: [account, null, null, null] };
      return Promise.resolve(Response.json({ jsonrpc: "2.0", id: 1, result }));
    };
    const look = ledgerLooks(
      ledgerNodes(rpc, (url) => requestsTo(url, fetch, time.clock)),
      policy,
      TAKEN,
      time.clock,
    );
    const looked = () =>
      look([address]).then(
        ({ slot, ledgerTime }) => [slot, ledgerTime] as const,
        (cause: Error) => cause.message,
      );
    return { looked, time };
  };

  test("the next node is asked when one is of another ledger or gives no result", async () => {
    const nodes = [
      { genesis: "another", slot: 9, unix: 5n },
      { slot: 8, unix: 4n, status: 400 },
    ];
    const { looked } = looking([...nodes, { slot: 7, unix: 3n }]);
    expect(await looked()).toEqual([7, 3n]);
    expect(await looking(nodes).looked()).toContain(
      "node-0.example: it is a node of another ledger",
    );
  });

  test("a node that is far behind, and one that stands still, are no answer", async () => {
    const node = { slot: 1_000, unix: 50n };
    const { looked, time } = looking([node]);
    expect(await looked()).toEqual([1_000, 50n]);
    Object.assign(node, { slot: 935, unix: 49n });
    expect(await looked()).toContain("it is behind: at slot 935");
    Object.assign(node, { slot: 936, unix: 49n });
    expect(await looked()).toEqual([936, 49n]);
    Object.assign(node, { slot: 1_000, unix: 50n });
    time.pass(90_001);
    expect(await looked()).toContain("it stands still at slot 1000");
    Object.assign(node, { slot: 1_001, unix: 51n });
    expect(await looked()).toEqual([1_001, 51n]);
  });
});

describe("news of accounts", () => {
  const sockets = () => {
    const made: Array<{ sent: Array<string>; tell: (name: string, data?: unknown) => void }> = [];
    const open = (): NewsSocket => {
      const listeners = new Map<string, (event: never) => void>();
      const sent: Array<string> = [];
      made.push({
        sent,
        tell: (name, data) => listeners.get(name)?.({ data } as never),
      });
      return {
        send: (text: string) => void sent.push(text),
        close: () => undefined,
        addEventListener: (name: string, listener: (event: never) => void) =>
          void listeners.set(name, listener),
      } as unknown as NewsSocket;
    };
    return { made, open };
  };

  test("a change is told, and after a lost connection everything counts as changed", async () => {
    const time = steppedClock();
    const { made, open } = sockets();
    const changes: Array<ReadonlyArray<Address>> = [];
    const news = accountNews("ws://node", (each) => changes.push(each), time.clock, open);
    news.watch(address);
    made[0]?.tell("open");
    expect(JSON.parse(made[0]?.sent[0] ?? "")).toMatchObject({
      method: "accountSubscribe",
      params: [address, { commitment: "finalized" }],
    });
    made[0]?.tell("message", JSON.stringify({ id: 1, result: 77 }));
    made[0]?.tell("message", "no JSON");
    made[0]?.tell("message", JSON.stringify({ params: { subscription: 78 } }));
    expect(changes).toEqual([[address]]);
    made[0]?.tell("message", JSON.stringify({ params: { subscription: 77 } }));
    expect(changes).toEqual([[address], [address]]);
    made[0]?.tell("close");
    expect(made).toHaveLength(1);
    time.pass(1_000);
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
    expect(made).toHaveLength(2);
    made[1]?.tell("open");
    expect(changes).toHaveLength(3);
    news.close();
    made[1]?.tell("close");
    expect(made).toHaveLength(2);
  });

  test("a node's WebSocket is at the next port, where it names one", () => {
    expect(socketUrlOf("http://127.0.0.1:8899")).toBe("ws://127.0.0.1:8900/");
    expect(socketUrlOf("https://node.example/key")).toBe("wss://node.example/key");
  });
});
