import { describe, expect, test } from "bun:test";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { taskHash } from "../../../core/domain/escrow/task-hash.ts";
import { escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { transferLamports } from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import { problemLine } from "../../../client/mcp/shown.ts";
import type { ServiceCall } from "../../../client/mcp/ask.ts";
import type { ToolContext } from "../../../client/mcp/tool.ts";
import { preparePayment } from "../../../client/mcp/tools/prepare-payment.ts";
import { failureOf } from "../support/failure-of.ts";
import {
  AGENT,
  type Asked,
  ATTESTOR,
  honestTransaction,
  MERCHANT,
  MINT,
  TRUST,
} from "../support/fake-service.ts";
import { toolContext } from "./tool-context.ts";

const TERMS = {
  agent: AGENT,
  merchant: MERCHANT,
  mint: MINT,
  amount: "1500000",
  ttl_seconds: 3600,
  task: "GET https://api.example.com",
  nonce: "order-1",
};
const ESCROW = escrowAddress(LOCAL_DEPLOYMENT, AGENT, taskHash(TERMS.task, TERMS.nonce)).address;

type Lie = {
  readonly bytes?: (asked: Asked) => Uint8Array;
  readonly escrow?: string;
  readonly signers?: ReadonlyArray<string>;
};

/** What the tool shows of what a service prepares. */
const shownBy = (lie: Lie, context: Partial<ToolContext> = {}) => {
  const { bytes = honestTransaction, escrow = ESCROW, signers = [AGENT] } = lie;
  const call: ServiceCall = (path, options) => {
    const body = options?.body as Asked | undefined;
    const answer =
      body === undefined
        ? TRUST
        : {
            data: {
              escrow_pda: escrow,
              transaction: {
                base64: encodeBase64(bytes(body)),
                signers,
                last_valid_block_height: 7,
              },
            },
          };
    expect(path).toMatch(/^\/v1\/escrows\/prepare\?|^\/\.well-known\/evidence-trust\.json$/);
    return Promise.resolve({ status: 200, headers: new Headers(), text: JSON.stringify(answer) });
  };
  const trust = policyIn(TRUST);
  return preparePayment.run(TERMS, toolContext(call, { trust, ...context }));
};

const HONEST = {
  result: {
    escrow: ESCROW,
    transaction: encodeBase64(
      honestTransaction({
        agent_owner: AGENT,
        merchant: MERCHANT,
        mint: MINT,
        amount_stroops: TERMS.amount,
        ttl_seconds: TERMS.ttl_seconds,
        task_intent: TERMS.task,
        nonce: TERMS.nonce,
      }),
    ),
    signers: [AGENT],
    last_valid_block_height: 7,
  },
};

const LIES: Readonly<Record<string, Lie>> = {
  "another amount": {
    bytes: (asked) => honestTransaction({ ...asked, amount_stroops: "1500001" }),
  },
  "another merchant": { bytes: (asked) => honestTransaction({ ...asked, merchant: ATTESTOR }) },
  "another time to live": { bytes: (asked) => honestTransaction({ ...asked, ttl_seconds: 60 }) },
  "another task": { bytes: (asked) => honestTransaction({ ...asked, task_intent: "GET /" }) },
  "a transfer beside it": {
    bytes: (asked) => honestTransaction(asked, [transferLamports(AGENT, MERCHANT, 1n)]),
  },
  "another payer": { bytes: (asked) => honestTransaction({ ...asked, agent_owner: MERCHANT }) },
  "the address of another escrow": { escrow: MERCHANT },
  "no transaction": { bytes: () => new Uint8Array() },
};

describe("beside a wallet", () => {
  test("what is shown is built anew", async () => {
    expect(await shownBy({})).toEqual(HONEST);
    // Who signs follows from the bytes.
    expect(await shownBy({ signers: [MERCHANT] })).toEqual(HONEST);
  });

  test.each(Object.entries(LIES))("a service that prepares %s is not shown", async (_, lie) => {
    for (const trust of [policyIn(TRUST), null]) {
      const failure = await failureOf(shownBy(lie, { trust }));
      expect(failure.code).toBe("prepared_otherwise");
      // However long both sides are, the line ends with the cure.
      expect(problemLine(failure)).toEndWith(` ${failure.cure}`);
    }
  });
});

test("on the service itself it is the service that speaks", async () => {
  expect(await shownBy({ signers: [AGENT] }, { trust: null, rebuilds: false })).toEqual(HONEST);
});
