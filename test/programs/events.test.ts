import { expect, test } from "bun:test";
import { ZERO_ADDRESS } from "../../core/domain/address.ts";
import { fieldsOf } from "../../core/protocol/accounts/byte-fields.ts";
import {
  acceptAdminInstruction,
  proposeAdminInstruction,
  rotateAttestorInstruction,
  setMerchantStatusInstruction,
  slashMerchantInstruction,
} from "../../core/protocol/instructions/attestor-instructions.ts";
import attestorJson from "../../programs/attestor.idl.json";
import custodyJson from "../../programs/custody.idl.json";
import { type Idl, type IdlType, parseIdl } from "../../programs/idl.ts";
import * as s from "./fixture/settlement.ts";

const idls = [custodyJson, attestorJson].map((json) => parseIdl(JSON.stringify(json)));

/** The value of a type at a byte offset, and the offset after it, as an Anchor client decodes it. */
const read = (bytes: Uint8Array, at: number, type: IdlType): readonly [unknown, number] => {
  const fields = fieldsOf(bytes);
  if (type === "u32") return [fields.u32(at), at + 4];
  if (type === "u64") return [fields.u64(at), at + 8];
  if (type === "i64") return [fields.i64(at), at + 8];
  if (type === "pubkey") return [fields.address(at), at + 32];
  if (typeof type === "object" && "array" in type) return [fields.hash(at), at + 32];
  return [fields.u8(at), at + 1];
};

const decode = (idl: Idl, bytes: Uint8Array): object => {
  const tag = idl.events.find(({ discriminator }) =>
    discriminator.every((byte, i) => bytes[i] === byte),
  );
  const type = idl.types.find(({ name }) => name === tag?.name)?.type;
  if (tag === undefined || type?.kind !== "struct") throw new Error("no event of the IDL");
  let at = 8;
  const event: Record<string, unknown> = { event: tag.name };
  for (const field of type.fields) [event[field.name], at] = read(bytes, at, field.type);
  expect(bytes.length).toBe(at);
  return event;
};

/** The events in a transaction's logs, each decoded by the IDL of the program that was running. */
const eventsOf = (logs: ReadonlyArray<string>): ReadonlyArray<object> => {
  const running: Array<string> = [];
  const events: Array<object> = [];
  for (const line of logs) {
    const [, program, verb] = /^Program (\w+) (invoke|success)/.exec(line) ?? [];
    if (verb === "invoke" && program !== undefined) running.push(program);
    if (verb === "success") running.pop();
    const idl = idls.find(({ address }) => address === running.at(-1));
    if (line.startsWith("Program data: ") && idl !== undefined)
      events.push(decode(idl, Uint8Array.from(Buffer.from(line.slice(14), "base64"))));
  }
  return events;
};

const parties = {
  escrow: s.escrow,
  agent_owner: s.agent.address,
  merchant: s.merchant.address,
  mint: s.mint,
  amount: s.AMOUNT,
};

test("a creation logs EscrowCreated", () => {
  const { logs } = s.merchantLedger().do([s.createInstruction()], [s.agent]);
  expect(eventsOf(logs)).toEqual([
    {
      event: "EscrowCreated",
      ...parties,
      task_hash: s.TASK,
      created_at: s.START,
      expires_at: s.START + BigInt(s.TTL_SECONDS),
      attestor: s.attestor.address,
      session_key: ZERO_ADDRESS,
      seq: 1n,
    },
  ]);
});

/** What every settlement logs, of an escrow from which nothing was released. */
const settled = {
  event: "EscrowSettled",
  ...parties,
  released: 0n,
  proof_hash: s.hashOf(0),
  attestor: s.attestor.address,
  attested_at: 0n,
  settled_at: s.START,
  seq: 2n,
  deliveries: 0,
  state: 2,
  settled_by: 3,
};

test("a release logs EscrowSettled, of all and of a part", () => {
  const release = (total: bigint) => {
    const ledger = s.escrowLedger();
    ledger.time = s.START + 5n;
    return ledger.do([s.attestInstruction({ total }), s.releaseInstruction()], [s.stranger]);
  };
  const released = {
    ...settled,
    proof_hash: s.PROOF,
    attested_at: s.START,
    settled_at: s.START + 5n,
    deliveries: 1,
    settled_by: 1,
  };
  expect(eventsOf(release(s.AMOUNT).logs)).toEqual([{ ...released, released: s.AMOUNT, state: 1 }]);
  expect(eventsOf(release(7n).logs)).toEqual([{ ...released, released: 7n, state: 3 }]);
});

test("a refund logs EscrowSettled", () => {
  const ledger = s.escrowLedger();
  ledger.time = s.START + 3600n;
  const { logs } = ledger.do([s.refundInstruction()], [s.stranger]);
  expect(eventsOf(logs)).toEqual([{ ...settled, settled_at: s.START + 3600n, settled_by: 2 }]);
});

test("a cancellation logs EscrowSettled", () => {
  const { logs } = s.escrowLedger().do([s.cancelInstruction()], [s.merchant]);
  expect(eventsOf(logs)).toEqual([settled]);
});

test("a session's life logs its captures, and nothing of its closing, its refund and its rent", () => {
  const ledger = s.merchantLedger();
  const sessionKey = s.sessionKey.address;
  const created = ledger.do([s.createInstruction({ sessionKey })], [s.agent]);
  expect(eventsOf(created.logs)).toMatchObject([
    { event: "EscrowCreated", session_key: sessionKey },
  ]);
  const { amount: _, ...named } = parties;
  const captured = {
    event: "EscrowCaptured",
    ...named,
    proof_hash: s.PROOF,
    attestor: s.attestor.address,
    attested_at: s.START,
  };
  const capture = (total: bigint, deliveries: number) =>
    ledger.do([s.proveInstruction({ total, deliveries }), s.captureInstruction()], [s.stranger]);
  expect(eventsOf(capture(5n, 2).logs)).toEqual([
    { ...captured, captured: 5n, released: 5n, deliveries: 2 },
  ]);
  expect(eventsOf(capture(7n, 4).logs)).toEqual([
    { ...captured, captured: 2n, released: 7n, deliveries: 4 },
  ]);
  const closed = ledger.do([s.closeInstruction()], [s.agent]);
  expect(eventsOf(closed.logs)).toEqual([]);
  const prove = s.proveInstruction({ total: 9n, deliveries: 5, isFinal: true });
  const { logs } = ledger.do(
    [prove, s.releaseInstruction(), s.refundInstruction(), s.rentInstruction()],
    [s.stranger],
  );
  expect(eventsOf(logs)).toEqual([
    {
      ...settled,
      released: 9n,
      proof_hash: s.PROOF,
      attested_at: s.START,
      deliveries: 5,
      state: 3,
      settled_by: 1,
    },
  ]);
});

test("a new admin logs AdminProposed and AdminChanged", () => {
  const admin = s.upgradeAuthority.address;
  const proposed = s.stranger.address;
  const { logs } = s
    .initializedLedger()
    .do(
      [
        proposeAdminInstruction(s.deployment, { admin, proposed }),
        acceptAdminInstruction(s.deployment, { proposed }),
      ],
      [s.upgradeAuthority, s.stranger],
    );
  expect(eventsOf(logs)).toEqual([
    { event: "AdminProposed", admin, proposed_admin: proposed },
    { event: "AdminChanged", previous_admin: admin, admin: proposed },
  ]);
});

test("a merchant's life logs an event at each step", () => {
  const ledger = s.initializedLedger();
  const merchant = s.merchant.address;
  const admin = s.upgradeAuthority.address;
  const attestor = s.stranger.address;
  const { logs } = ledger.do(
    [
      s.registerInstruction(s.merchant, s.attestor.address),
      rotateAttestorInstruction(s.deployment, { merchant, attestor }),
      setMerchantStatusInstruction(s.deployment, { admin, merchant, status: "Suspended" }),
      slashMerchantInstruction(s.deployment, { admin, merchant, points: 4 }),
    ],
    [s.merchant, s.upgradeAuthority],
  );
  expect(eventsOf(logs)).toEqual([
    {
      event: "MerchantRegistered",
      merchant,
      attestor: s.attestor.address,
      registered_at: s.START,
    },
    {
      event: "AttestorRotated",
      merchant,
      previous_attestor: s.attestor.address,
      attestor,
      rotated_at: s.START,
      revoked_seq: 0n,
    },
    { event: "MerchantStatusChanged", merchant, status: 1, changed_at: s.START },
    { event: "MerchantSlashed", merchant, points: 4, reputation: 0, slashed_at: s.START },
  ]);
});
