import { describe, expect, test } from "bun:test";
import { policyIn } from "../../../client/pinned-policy.ts";
import type { ServiceCall } from "../../../client/mcp/ask.ts";
import { prepareAttestation } from "../../../client/mcp/tools/prepare-attestation.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { proofHash } from "../../../core/domain/evidence/proof-template.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import {
  type AttestationClaim,
  attestationMessage,
} from "../../../core/protocol/instructions/attestation.ts";
import * as s from "../../programs/fixture/settlement.ts";
import { TRUST } from "../support/fake-service.ts";
import { failureOf } from "../support/failure-of.ts";

const PAYLOAD = { status_code: 200 };
const HASH = proofHash(PAYLOAD);
const WHOLE = { escrow: s.escrow, proofHash: HASH, timestamp: s.START };

type Signed = Partial<AttestationClaim & { readonly escrow: typeof s.escrow }>;

/** What the tool shows of a message that the service prepares for a request. */
const shownOf = (given: object, signed: Signed, rebuilds = true) => {
  const message = encodeBase64(attestationMessage({ ...WHOLE, ...signed }));
  const data = {
    message_base64: message,
    proof_hash: HASH,
    timestamp: formatUnixTime(s.START),
    until: formatUnixTime(s.START + 300n),
    attestor: s.attestor.address,
  };
  const call: ServiceCall = () =>
    Promise.resolve({ status: 200, headers: new Headers(), text: JSON.stringify({ data }) });
  const trust = policyIn(TRUST);
  const context = { call, trust, rebuilds, canAsk: false, consentTo: () => null };
  return { message, run: prepareAttestation.run({ escrow: s.escrow, ...given }, context) };
};

const PART = { payload: PAYLOAD, amount: "2000000" };
const lies: ReadonlyArray<readonly [string, object, Signed]> = [
  ["a part of one unit instead of all", { payload: PAYLOAD }, { partialAmount: 1n }],
  ["all instead of a part", PART, {}],
  ["another part", PART, { partialAmount: 1n }],
  ["another escrow", { payload: PAYLOAD }, { escrow: s.agent.address }],
  ["another proof", { payload: PAYLOAD }, { proofHash: s.hashOf(9) }],
  ["another proof than the named one", { proof_hash: HASH }, { proofHash: s.hashOf(9) }],
  ["another time than it tells", { payload: PAYLOAD }, { timestamp: s.START + 1n }],
];

describe("beside an attestor's key", () => {
  test.each([
    ["a payload", { payload: PAYLOAD }, {}],
    ["a hash", { proof_hash: HASH }, {}],
    ["a part", PART, { partialAmount: 2_000_000n }],
  ])("the message of %s is shown", async (_, given, signed) => {
    const { message, run } = shownOf(given, signed);
    expect(await run).toMatchObject({ result: { message_base64: message, proof_hash: HASH } });
  });

  test.each(lies)("a service that prepares %s is not shown", async (_, given, signed) => {
    expect((await failureOf(shownOf(given, signed).run)).code).toBe("prepared_otherwise");
  });
});

test("on the service itself it is the service that speaks", async () => {
  const { message, run } = shownOf({ payload: PAYLOAD }, { partialAmount: 1n }, false);
  expect(await run).toMatchObject({ result: { message_base64: message } });
});
