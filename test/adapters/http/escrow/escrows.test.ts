import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Address } from "../../../../core/domain/address.ts";
import { taskHash } from "../../../../core/domain/escrow/task-hash.ts";
import {
  Escrow,
  type EscrowRecord,
  escrowRecord,
} from "../../../../adapters/http/escrow/escrow-contract.ts";
import {
  associatedTokenAddress,
  custodyConfigAddress,
} from "../../../../core/protocol/addresses/addresses.ts";
import { fieldWriter } from "../../../../core/protocol/accounts/byte-fields.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import {
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { LedgerTimeout, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import {
  AGENT,
  CREATED_AT,
  escrow,
  EXPIRES_AT,
  merchant,
  MINT,
  prepareBody,
  STRANGER,
} from "../support/parties.ts";
import { checkedClient, dataOf, errorsOf, makeService, problemOf } from "../support/service.ts";
import { accountOf } from "../../../doubles/accounts.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { testInstance } from "../../../core/use-cases/test-instance.ts";
import { documentSchemas } from "../support/document-schemas.ts";

describe("escrows", () => {
  const PREPARE = "/v1/escrows/prepare";

  let service: Awaited<ReturnType<typeof makeService>>;

  let client: Awaited<ReturnType<typeof checkedClient>>;

  beforeAll(async () => {
    service = await makeService();
    client = await checkedClient(service);
    service.seed({ merchants: [merchant()] });
  });

  afterAll(() => service.runtime.dispose());

  describe("prepare", () => {
    test("the same request gives the same bytes, and asks nothing of the ledger", async () => {
      service.ledger.fault = new LedgerUnavailable({ retryable: true, cause: "down" });
      const texts = await Promise.all(
        Array.from({ length: 5 }, async () =>
          (await client.postJson(PREPARE, prepareBody())).text(),
        ),
      );
      service.ledger.fault = null;
      expect(new Set(texts).size).toBe(1);
    });

    test("a task hash stands beside an intent, and the answer says whether it is the intent's", async () => {
      const inputsOf = async (change: object) => {
        const response = await client.postJson(PREPARE, { ...prepareBody(), ...change });
        return (await dataOf<{ readonly inputs: object }>(response)).inputs;
      };
      const { task_intent, nonce } = prepareBody();
      const task_hash = "ab".repeat(32);
      expect(await inputsOf({ task_hash })).toMatchObject({
        task_hash,
        task_hash_derived: false,
        task_intent,
        task_intent_matches: false,
        nonce,
        nonce_applied: false,
      });
      expect(await inputsOf({ task_hash: taskHash(task_intent, nonce) })).toMatchObject({
        task_hash_derived: false,
        task_intent_matches: true,
        nonce_applied: true,
      });
      expect(await inputsOf({})).toMatchObject({ task_intent_matches: null });
      expect(await inputsOf({ task_hash, task_intent: null })).toMatchObject({
        task_intent_matches: null,
      });
    });

    test("null counts as absent for the optional members nonce, task_hash and task_intent", async () => {
      const prepared = async (change: object) =>
        dataOf(await client.postJson(PREPARE, { ...prepareBody(), ...change }));
      const task_hash = "ab".repeat(32);
      expect(await prepared({ nonce: null, task_hash: null })).toEqual(
        await prepared({ nonce: undefined, task_hash: undefined }),
      );
      expect(await prepared({ task_hash, task_intent: null })).toEqual(
        await prepared({ task_hash, task_intent: undefined }),
      );
      const nothing = { ...prepareBody(), task_hash: null, task_intent: null };
      expect(await problemOf(await client.postJson(PREPARE, nothing))).toBe("422 task_required");
    });

    test.each(["amount_stroops", "ttl_seconds", "agent_owner", "merchant", "mint"])(
      "null for %s is a 422 that names it",
      async (name) => {
        // What JSON.stringify makes of NaN must never become an amount.
        const response = await client.postJson(PREPARE, { ...prepareBody(), [name]: Number.NaN });
        expect(await errorsOf(response)).toMatchObject([{ pointer: `/${name}` }]);
      },
    );

    test("preflight adds the ledger's state and the merchant's present attestor", async () => {
      const { attestor } = merchant();
      const plain = await dataOf(await client.postJson(PREPARE, prepareBody()));
      const asked = await dataOf(await client.postJson(PREPARE, { ...prepareBody(), attestor }));
      // The ledger has a config by itself. Here custody was never set up.
      const { address } = custodyConfigAddress(LOCAL_DEPLOYMENT);
      service.ledger.put(accountOf(address, SYSTEM_PROGRAM, new Uint8Array()));
      const response = await client.postJson(`${PREPARE}?preflight=true`, prepareBody());
      service.ledger.vanish(address);
      const { preflight, ...rest } = await dataOf<Record<string, unknown>>(response);
      expect(rest).toEqual(asked as Record<string, unknown>);
      expect(rest).not.toEqual(plain as Record<string, unknown>);
      expect(rest).toMatchObject({ inputs: { attestor } });
      const { blockers, cost, ...shown } = preflight as {
        readonly blockers: ReadonlyArray<{ readonly rule: string }>;
        readonly cost: Record<string, unknown>;
      };
      expect(blockers.map(({ rule }) => rule)).toEqual([
        "deployment_not_initialized",
        "mint_unusable",
        "payer_cannot_pay",
      ]);
      expect(cost).toMatchObject({
        fee: "5000",
        returned_at_settlement: "2039280",
        returned_at_archiving: "2227200",
        kept: "1559040",
      });
      expect(shown).toEqual({
        ready: false,
        merchant_status: "Active",
        mint_supported: true,
        agent_balance_stroops: null,
        balance_sufficient: false,
        escrow_address_free: true,
        slot: 1000,
      });
      const without = await client.postJson(`${PREPARE}?preflight=false`, prepareBody());
      expect(await dataOf(without)).toEqual(plain);
    });
  });

  describe("one escrow", () => {
    const pending = escrow("one escrow");
    const path = `/v1/escrows/${pending.address}`;

    beforeAll(() => service.seed({ escrows: [pending] }));

    test("a refund is offered with instructions only if the agent's associated account can receive tokens", async () => {
      service.ledger.setClock(EXPIRES_AT);
      const address = associatedTokenAddress(AGENT, MINT);
      const offered = async (owner: Address, state: number) => {
        const data = fieldWriter(165)
          .address(MINT)
          .address(owner)
          .skip(44)
          .u8(state)
          .skip(56)
          .done();
        service.ledger.put(accountOf(address, TOKEN_PROGRAM, data));
        const { next_actions } = await dataOf<EscrowRecord>(await client.send(path));
        return next_actions.map(
          ({ action, by, awaiting, instructions }) =>
            `${action} by ${by} awaiting ${awaiting}, ${instructions.length} instructions`,
        );
      };
      // The account exists, so no instruction makes it. The second returns the rent.
      const ready = ["claim_refund by anyone awaiting null, 2 instructions"];
      const awaited = ["claim_refund by anyone awaiting payout_account, 0 instructions"];
      const [initialised, frozen] = [1, 2];
      expect(await offered(AGENT, initialised)).toEqual(ready);
      expect(await offered(STRANGER, initialised)).toEqual(awaited);
      expect(await offered(AGENT, frozen)).toEqual(awaited);
      service.ledger.put(accountOf(address, SYSTEM_PROGRAM, new Uint8Array()));
      expect(await dataOf(await client.send(path))).toMatchObject({
        next_actions: [{ awaiting: null }],
      });
      service.ledger.vanish(address);
      service.ledger.setClock(CREATED_AT + 60n);
    });

    test("a ledger that fails is not the caller's mistake, and the answer does not show the cause", async () => {
      const secret = "https://node.example/?api-key=SECRET";
      service.ledger.fault = new LedgerUnavailable({ retryable: true, cause: new Error(secret) });
      const unavailable = await client.send(path);
      expect(unavailable.headers.get("retry-after")).toBe("1");
      const text = await unavailable.text();
      expect([unavailable.status, text.includes("SECRET")]).toEqual([502, false]);
      service.ledger.fault = new LedgerTimeout({ timeoutMs: 5000 });
      expect(await problemOf(await client.send(path))).toBe("504 ledger_timeout");
      service.ledger.fault = null;
      expect(JSON.stringify(service.lines)).not.toContain("SECRET");
    });
  });
});

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

const faultOf = documentSchemas({});

test("an escrow's record fits its schema, in every state and at any time", () => {
  const offset = fc.oneof(fc.bigInt({ min: -2n, max: 2n }), fc.bigInt({ min: -1000n, max: 1000n }));
  fc.assert(
    fc.property(anyEscrow(LOCAL_DEPLOYMENT), offset, (escrow, seconds) => {
      const made = escrowRecord(escrow, escrow.expiresAt + seconds, testInstance());
      expect(faultOf(Escrow, made)).toBe("");
      expect(Object.keys(made)).toEqual(Object.keys(Escrow.properties));
    }),
    runs(200),
  );
});
