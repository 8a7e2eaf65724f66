import { afterAll, beforeAll, expect, test } from "bun:test";
import { RELAY_POLICY } from "../../../../core/domain/relay/relay-policy.ts";
import {
  customError,
  simulationFails,
} from "../../../conformance/http-answers/exchanges/relay/relay.ts";
import { fixedWorld, type World } from "../../../conformance/http-answers/world/fixed-world.ts";
import { createPaid, paymentBody } from "../../../conformance/http-answers/world/payments.ts";
import { jsonOf } from "../support/service.ts";

const LIMIT = 20;

let world: World;
beforeAll(async () => {
  world = await fixedWorld({ limit: LIMIT }, false);
});
afterAll(() => world.end());

/** Whether the facilitator finds a payment valid, and the budgets that are left as the answer tells them. */
const verify = async (label: string) => {
  const answer = await world.app.handle(
    new Request("http://localhost/x402/verify", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(paymentBody({ payload: { create: createPaid(label) } })),
    }),
  );
  const { isValid } = await jsonOf<{ readonly isValid: boolean }>(answer);
  return { isValid, left: answer.headers.get("ratelimit") };
};

test("a verification costs what a relay does: one point, and more when the simulation fails", async () => {
  expect(await verify("first")).toEqual({ isValid: true, left: `"relay";r=${LIMIT - 1};t=60` });
  simulationFails(customError(6025))(world);
  expect(await verify("refused")).toEqual({ isValid: false, left: `"relay";r=${LIMIT - 2};t=60` });
  const left = LIMIT - 2 - (RELAY_POLICY.failedPreflightCost - 1) - 1;
  expect(await verify("refused again")).toEqual({
    isValid: false,
    left: `"relay";r=${left};t=60`,
  });
  expect(world.ledger.submitted).toEqual([]);
});
