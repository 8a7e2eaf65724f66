import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { connect } from "../../../client/connect.ts";
import { type Address, addressToBytes } from "../../../core/domain/address.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { computeBudgetInstructions } from "../../../core/protocol/instructions/compute-budget.ts";
import { createEscrowInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import { unsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import { taskHash } from "../../../core/domain/escrow/task-hash.ts";
import { runs } from "../../arbitraries/runs.ts";
import {
  type Asked,
  ATTESTOR,
  BLOCKHASH,
  countingSigner,
  fakeService,
  honestTransaction,
  PAYMENT,
  TRUST,
} from "../support/fake-service.ts";
import { failureOf } from "../support/failure-of.ts";
import { testClock } from "../support/test-clock.ts";

/** A client of a fake service that pays, and how often it signed. */
const payingTo = ({ fetch }: ReturnType<typeof fakeService>) => {
  const { signer, signed } = countingSigner();
  const { clock } = testClock();
  const client = connect("http://service.test", { trust: TRUST, fetch, clock });
  return { signed, pay: () => client.pay({ ...PAYMENT, signer }) };
};

describe("a service that lies is refused before anything is signed", () => {
  const stranger = localKey("merchant/prices").address;
  const create = (asked: Asked, more: object) =>
    createEscrowInstruction(LOCAL_DEPLOYMENT, {
      payer: asked.agent_owner,
      agentOwner: asked.agent_owner,
      merchant: asked.merchant,
      mint: asked.mint,
      taskHash: taskHash(asked.task_intent, asked.nonce),
      attestor: ATTESTOR,
      amount: BigInt(asked.amount_stroops),
      ttlSeconds: asked.ttl_seconds,
      ...more,
    });
  const built = (
    payer: Address,
    ...instructions: Parameters<typeof unsignedTransaction>[0]["instructions"][number][]
  ) => unsignedTransaction({ payer, blockhash: BLOCKHASH, instructions }).bytes;
  const transfer = {
    programAddress: "11111111111111111111111111111111" as Address,
    accounts: [],
    data: Uint8Array.of(2, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0),
  };
  const fee = (unitPrice: bigint) =>
    computeBudgetInstructions({ unitLimit: 1_000_000, loadedBytes: 1_000_000, unitPrice });
  const LIES: Record<string, (asked: Asked) => Uint8Array> = {
    "another payer": (asked) => built(stranger, create(asked, {})),
    "another merchant": (asked) => honestTransaction({ ...asked, merchant: stranger }),
    "another amount": (asked) => honestTransaction({ ...asked, amount_stroops: "1500001" }),
    "another mint": (asked) => honestTransaction({ ...asked, mint: stranger }),
    "another ttl": (asked) => honestTransaction({ ...asked, ttl_seconds: 604_800 }),
    "another task": (asked) => honestTransaction({ ...asked, nonce: "order-2" }),
    "an extra instruction": (asked) => honestTransaction(asked, [transfer]),
    "the same twice": (asked) => built(asked.agent_owner, create(asked, {}), create(asked, {})),
    nothing: (asked) => built(asked.agent_owner),
    "another program": (asked) =>
      built(asked.agent_owner, { ...create(asked, {}), programAddress: stranger }),
    "a huge priority fee": (asked) => honestTransaction(asked, fee(1_000_001n)),
    "no transaction": () => new Uint8Array(),
    "an address table": (asked) =>
      Uint8Array.from([
        ...honestTransaction(asked).slice(0, -1),
        1,
        ...new Uint8Array(32),
        1,
        0,
        0,
      ]),
  };
  for (const [name, lie] of Object.entries(LIES))
    test(`${name}: both sides are shown`, async () => {
      const { pay, signed } = payingTo(fakeService(lie));
      const { code, problem } = await failureOf(pay());
      expect(code).toBe("prepared_otherwise");
      const [difference] = (problem?.["differences"] ?? []) as ReadonlyArray<{
        asked: string;
        prepared: string;
      }>;
      expect(difference?.asked).not.toBe(difference?.prepared);
      expect(signed()).toBe(0);
    });

  test("a modest priority fee is signed; the caller's limit counts", async () => {
    const modest = (asked: Asked) => honestTransaction(asked, fee(1_000_000n));
    const { pay, signed } = payingTo(fakeService(modest));
    await pay();
    expect(signed()).toBe(1);
    const { signer } = countingSigner();
    const client = connect("http://service.test", {
      trust: TRUST,
      fetch: fakeService(modest).fetch,
      mostPriorityFee: 999_999n,
    });
    expect((await failureOf(client.pay({ ...PAYMENT, signer }))).code).toBe("prepared_otherwise");
  });

  test("any flipped byte is refused, unless it is the blockhash or the attestor, which the ledger judges", async () => {
    const asked: Asked = {
      agent_owner: countingSigner().signer.address as Address,
      merchant: PAYMENT.merchant,
      mint: TRUST.supported_mints[0]?.address as Address,
      amount_stroops: "1500000",
      ttl_seconds: PAYMENT.ttl,
      task_intent: PAYMENT.task,
      nonce: PAYMENT.nonce,
    };
    const honest = honestTransaction(asked);
    const text = Buffer.from(honest).toString("latin1");
    const within = (at: number, address: Address) => {
      const from = text.indexOf(Buffer.from(addressToBytes(address)).toString("latin1"));
      return at >= from && at < from + 32;
    };
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: honest.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, mask) => {
          const { pay, signed } = payingTo(
            fakeService(() => honest.map((byte, place) => (place === at ? byte ^ mask : byte))),
          );
          const free = within(at, BLOCKHASH) || within(at, ATTESTOR) || (at >= 1 && at < 65);
          if (free) return;
          expect((await failureOf(pay())).code).toBe("prepared_otherwise");
          expect(signed()).toBe(0);
        },
      ),
      runs(300),
    );
  });
});
