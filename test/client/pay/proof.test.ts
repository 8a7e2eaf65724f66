import { expect, test } from "bun:test";
import { connect } from "../../../client/connect.ts";
import type { Fetch } from "../../../client/service/fetch-directly.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { taskHash } from "../../../core/domain/escrow/task-hash.ts";
import { encodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import { associatedToken, escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { SYSTEM_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import {
  AGENT,
  ATTESTOR,
  countingSigner,
  fakeService,
  MERCHANT,
  MINT,
  PAYMENT,
  TRUST,
} from "../support/fake-service.ts";
import { tombstoneAccount } from "../../doubles/tombstone.ts";
import { failureOf } from "../support/failure-of.ts";
import { testClock } from "../support/test-clock.ts";

const SERVICE = "http://service.test";
const NODE = "http://node.test";
const OTHER_NODE = "http://other.test/?api-key=secret";

const task = taskHash(PAYMENT.task, PAYMENT.nonce);
const { address, bump } = escrowAddress(LOCAL_DEPLOYMENT, AGENT, task);

/** What a node shows at the escrow's address. */
type Shown = { readonly owner: string; readonly data: Uint8Array } | null;

const CREATED_AT = 1_795_305_600n;
const PAID: Escrow = {
  address,
  bump,
  vaultBump: associatedToken(address, MINT).bump,
  state: "Pending",
  agentOwner: AGENT,
  merchant: MERCHANT,
  mint: MINT,
  rentPayer: AGENT,
  taskHash: task,
  sessionKey: null,
  amount: 1_500_000n,
  released: 0n,
  deliveries: 0,
  createdAt: CREATED_AT,
  expiresAt: CREATED_AT + BigInt(PAYMENT.ttl),
  closesAt: null,
  settledAt: null,
  settledBy: null,
  attestor: ATTESTOR,
  attestation: null,
  createdSeq: 1n,
  settledSeq: null,
};
const { custodyProgram } = LOCAL_DEPLOYMENT;

/** The paid escrow's account, with other terms where `more` says so. */
const account = (more: Partial<Escrow> = {}): Shown => ({
  owner: custodyProgram,
  data: encodeEscrowAccount({ ...PAID, ...more }),
});

/** A node that shows `shown`, each in turn and the last one from then on. */
const nodeOf = (shown: ReadonlyArray<Shown>, genesis: string = TRUST.genesis_hash): Fetch => {
  let looks = 0;
  return (_, init) => {
    const { method } = JSON.parse(init.body as string) as { readonly method: string };
    if (method === "getGenesisHash") return Promise.resolve(Response.json({ result: genesis }));
    const now = shown[Math.min(looks++, shown.length - 1)] ?? null;
    const value = now && { owner: now.owner, data: [encodeBase64(now.data), "base64"] };
    return Promise.resolve(Response.json({ result: { context: { slot: 1 }, value } }));
  };
};

/** Pays by a service that says of everything that it landed, and is asked for proof of `nodes`. */
const payWith = (nodes: Readonly<Record<string, Fetch>> = {}) => {
  const service = fakeService();
  const { signer } = countingSigner();
  const urls = Object.keys(nodes);
  const client = connect(SERVICE, {
    trust: TRUST,
    clock: testClock().clock,
    ...(urls.length === 0 ? {} : { rpc: urls }),
    fetch: (url, init) => {
      const node = urls.find((each) => url.startsWith(each));
      return (nodes[node ?? ""] ?? service.fetch)(url, init);
    },
  });
  return { pay: () => client.pay({ ...PAYMENT, signer }), service };
};

test("what a service alone says has landed is unproven, and is so when it is found again", async () => {
  const { pay } = payWith();
  const paid = await pay();
  expect(paid).toMatchObject({ escrow: address, terms: "unproven" });
  expect(paid.signature).toBeString();
  expect(await pay()).toMatchObject({ signature: null, terms: "unproven" });
});

test("what a node shows on the payment's terms is the same, as soon as it shows it", async () => {
  const { pay } = payWith({ [NODE]: nodeOf([null, null, account()]) });
  expect(await pay()).toMatchObject({ terms: "same" });
  expect(await pay()).toMatchObject({ signature: null, terms: "same" });
});

test("a service that claims a landing without anything on the ledger is contradicted by the node", async () => {
  const stray = { owner: SYSTEM_PROGRAM, data: new Uint8Array() };
  for (const shown of [null, stray]) {
    const { pay } = payWith({ [NODE]: nodeOf([shown]) });
    const { code, message } = await failureOf(pay());
    expect(code).toBe("not_on_ledger");
    expect(message).toInclude(address);
    expect(message).toInclude("node.test");
  }
});

test("an archived escrow proves agent, task and nonce, and no terms", async () => {
  const refunded: Escrow = {
    ...PAID,
    state: "Refunded",
    settledBy: "refund",
    settledAt: PAID.expiresAt,
    settledSeq: 2n,
  };
  const { pay } = payWith({ [NODE]: nodeOf([tombstoneAccount(refunded, custodyProgram)]) });
  expect(await pay()).toMatchObject({ terms: "unproven" });
});

test("terms that the node shows otherwise are refused with both sides", async () => {
  const others = [
    { amount: 1_500_001n },
    { merchant: ATTESTOR },
    { expiresAt: CREATED_AT + 60n },
    { sessionKey: MERCHANT },
  ] satisfies ReadonlyArray<Partial<Escrow>>;
  for (const more of others) {
    const { pay } = payWith({ [NODE]: nodeOf([account(more)]) });
    expect((await failureOf(pay())).code).toBe("another_payment");
  }
});

test("a node of another ledger, or without a usable answer, decides nothing: the next one is asked, and without one the failure names hosts only", async () => {
  const silent: Fetch = () => Promise.reject(new TypeError("broken connection"));
  const wrong: Readonly<Record<string, Fetch>> = {
    "another ledger": nodeOf([account()], ATTESTOR),
    "no connection": silent,
    "a refusal": () => Promise.resolve(Response.json({ error: { code: -32005 } })),
    "no JSON": () => Promise.resolve(new Response("<html>")),
    "401": () => Promise.resolve(new Response("", { status: 401 })),
  };
  for (const [name, node] of Object.entries(wrong)) {
    const { pay } = payWith({ [OTHER_NODE]: node, [NODE]: nodeOf([account()]) });
    expect([name, (await pay()).terms]).toEqual([name, "same"]);
    const alone = await failureOf(payWith({ [OTHER_NODE]: node }).pay());
    expect([name, alone.code]).toEqual([name, "node_unusable"]);
    expect(alone.message).toInclude("other.test");
    expect(`${alone.message} ${alone.cure}`).not.toInclude("secret");
  }
});

test("an address of a node that is none is refused at connect, and not repeated: it can hold a key", () => {
  for (const rpc of ["ftp://secret", "secret", []])
    expect(() => connect(SERVICE, { trust: TRUST, rpc })).toThrow(
      expect.objectContaining({
        code: "invalid_rpc",
        message: expect.not.stringContaining("secret"),
      }),
    );
});
