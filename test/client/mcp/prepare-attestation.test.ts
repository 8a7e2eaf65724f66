import { describe, expect, test } from "bun:test";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
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
import { claimOver } from "../../doubles/attested.ts";
import { failureOf } from "../support/failure-of.ts";
import { toolContext } from "./tool-context.ts";

const PAYLOAD = { status_code: 200 };
const HASH = proofHash(PAYLOAD);
const trust = policyIn(TRUST);
const PENDING: Escrow = s.readEscrow(s.escrowLedger());
const WHOLE: AttestationClaim = claimOver(PENDING, trust, {
  proofHash: HASH,
  timestamp: s.START,
});

type Signed = Partial<AttestationClaim>;

/** The live read of the escrow. */
const RECORD = {
  escrow_pda: PENDING.address,
  state: PENDING.state,
  agent_owner: PENDING.agentOwner,
  merchant: PENDING.merchant,
  mint: PENDING.mint,
  rent_payer: PENDING.rentPayer,
  attestor: PENDING.attestor,
  session_key: PENDING.sessionKey,
  task_hash: PENDING.taskHash,
  amount_stroops: PENDING.amount.toString(),
  released_stroops: "0",
  created_at: formatUnixTime(PENDING.createdAt),
  expires_at: formatUnixTime(PENDING.expiresAt),
  closes_at: null,
  created_seq: PENDING.createdSeq.toString(),
  next_actions: [],
};

/** What the tool shows of a message that the service prepares for a request. */
const shownOf = (given: object, signed: Signed, rebuilds = true, record: object = RECORD) => {
  const message = encodeBase64(attestationMessage({ ...WHOLE, ...signed }));
  const data = {
    message_base64: message,
    proof_hash: HASH,
    timestamp: formatUnixTime(s.START),
    until: formatUnixTime(s.START + 300n),
    attestor: s.attestor.address,
  };
  const call: ServiceCall = (path) => {
    const answer = path.endsWith("/prepare") ? data : record;
    const context = { ledger_time: formatUnixTime(s.START) };
    const text = JSON.stringify({ data: answer, context });
    return Promise.resolve({ status: 200, headers: new Headers(), text });
  };
  const context = toolContext(call, { trust, rebuilds });
  return { message, run: prepareAttestation.run({ escrow: s.escrow, ...given }, context) };
};

const PART = { payload: PAYLOAD, amount: "2000000" };
const lies: ReadonlyArray<readonly [string, object, Signed]> = [
  ["a part of one unit instead of all", { payload: PAYLOAD }, { total: 1n }],
  ["all instead of a part", PART, {}],
  ["another part", PART, { total: 1n }],
  ["another escrow", { payload: PAYLOAD }, { terms: s.hashOf(9) }],
  ["another ledger", { payload: PAYLOAD }, { domain: s.hashOf(9) }],
  ["two deliveries", { payload: PAYLOAD }, { deliveries: 2 }],
  ["a claim that others may follow", { payload: PAYLOAD }, { isFinal: false }],
  ["another proof", { payload: PAYLOAD }, { proofHash: s.hashOf(9) }],
  ["another proof than the named one", { proof_hash: HASH }, { proofHash: s.hashOf(9) }],
  ["another time than it tells", { payload: PAYLOAD }, { timestamp: s.START + 1n }],
];

describe("beside an attestor's key", () => {
  test.each([
    ["a payload", { payload: PAYLOAD }, {}],
    ["a hash", { proof_hash: HASH }, {}],
    ["a part", PART, { total: 2_000_000n }],
  ])("the message of %s is shown", async (_, given, signed) => {
    const { message, run } = shownOf(given, signed);
    expect(await run).toMatchObject({ result: { message_base64: message, proof_hash: HASH } });
  });

  test.each(lies)("a service that prepares %s is not shown", async (_, given, signed) => {
    expect((await failureOf(shownOf(given, signed).run)).code).toBe("prepared_otherwise");
  });
});

test("an escrow that is on other terms than its address is not attested", async () => {
  const of = (change: object) =>
    failureOf(shownOf({ payload: PAYLOAD }, {}, true, { ...RECORD, ...change }).run);
  expect((await of({ task_hash: HASH })).code).toBe("unsound_escrow");
  expect((await of({ created_seq: undefined })).code).toBe("unsound_escrow");
  // The service's word for these is in the terms, so the message that it prepares is another one.
  for (const change of [{ amount_stroops: "1" }, { created_seq: "2" }, { mint: s.otherMint }])
    expect((await of(change)).code).toBe("prepared_otherwise");
});

test("a session is not attested here, and the failure says what is missing", async () => {
  const record = { ...RECORD, session_key: s.sessionKey.address };
  const { code, message } = await failureOf(shownOf({ payload: PAYLOAD }, {}, true, record).run);
  expect([code, message]).toEqual([
    "session_unsupported",
    expect.stringContaining("a voucher of its session key"),
  ]);
});

test("on the service itself it is the service that speaks", async () => {
  const { message, run } = shownOf({ payload: PAYLOAD }, { total: 1n }, false);
  expect(await run).toMatchObject({ result: { message_base64: message } });
});
