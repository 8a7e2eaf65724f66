import { expect, test } from "bun:test";
import { Effect, Exit, Layer } from "effect";
import { relayTransaction } from "../../../../core/use-cases/relay/relay-transaction.ts";
import { ExceptNode, LastAnswer, Ledger, NodeCount } from "../../../../ports/ledger/ledger.ts";
import * as s from "../../../programs/fixture/settlement.ts";
import type { TestLedger } from "../../../programs/fixture/test-ledger.ts";
import { relayOver, scriptedPorts } from "./scripted-ledger.ts";
import { signedBase64 } from "./signed.ts";

/** A ledger on which the refund can be made, unless it is early or its payer has nothing. */
const ledgerWhere = ({ isEarly = false, isPoor = false } = {}): TestLedger => {
  const ledger = s.escrowLedger();
  if (isPoor) ledger.set({ ...ledger.account(s.stranger.address), lamports: 0n });
  if (!isEarly) ledger.time = s.START + BigInt(s.TTL_SECONDS);
  return ledger;
};

/** What becomes of the refund's relay by two nodes' accounts, and which node was read, in turn. */
const relayed = async (first: TestLedger, second: TestLedger) => {
  const read: Array<number> = [];
  const { script, ports } = scriptedPorts(first);
  const other = scriptedPorts(second).ports;
  const ledger = Layer.effect(
    Ledger,
    Effect.gen(function* () {
      const nodes = [yield* Ledger, yield* Effect.provide(Ledger, other)] as const;
      const readAccounts: (typeof nodes)[0]["readAccounts"] = (...asked) =>
        Effect.gen(function* () {
          const index = (yield* ExceptNode) === 0 ? 1 : 0;
          read.push(index);
          const last = yield* LastAnswer;
          if (last !== null) last.source = { node: `node ${index}`, method: "read", index };
          return yield* nodes[index].readAccounts(...asked);
        });
      return Ledger.of({ ...nodes[0], readAccounts });
    }),
  ).pipe(Layer.provide(ports));
  const exit = await Effect.exit(
    relayTransaction({
      signedTransaction: signedBase64([s.refundInstruction()], [s.stranger]),
      confirm: false,
      skipPreflight: true,
    }),
  ).pipe(
    Effect.provideService(NodeCount, 2),
    Effect.provide(relayOver(Layer.merge(ports, ledger))),
    Effect.runPromise,
  );
  const found = Exit.findErrorOption(exit);
  const failure = found._tag === "Some" ? found.value : null;
  const nodes = failure !== null && "nodes" in failure ? failure.nodes : null;
  const told = failure?._tag ?? (Exit.isSuccess(exit) ? "sent" : "died");
  return { told, nodes, read, sent: script.sent.length };
};

test("one read of one node judges a relay that nothing hinders", async () => {
  const passed = await relayed(ledgerWhere(), ledgerWhere({ isEarly: true, isPoor: true }));
  expect(passed).toEqual({ told: "sent", nodes: null, read: [0], sent: 1 });
});

test("a refusal by the rules counts once another node's accounts come to it too", async () => {
  const early = { isEarly: true };
  const refused = await relayed(ledgerWhere(early), ledgerWhere(early));
  expect(refused).toEqual({ told: "SettlementCheckFailed", nodes: 2, read: [0, 1], sent: 0 });
  const passed = await relayed(ledgerWhere(early), ledgerWhere());
  expect(passed).toEqual({ told: "sent", nodes: null, read: [0, 1], sent: 1 });
});

test("so does one by what the fee payer has, and the rules are then judged by the other node's accounts", async () => {
  const poor = { isPoor: true };
  const refused = await relayed(ledgerWhere(poor), ledgerWhere(poor));
  expect(refused).toMatchObject({ told: "FeePayerCannotPay", nodes: 2, read: [0, 1], sent: 0 });
  const passed = await relayed(ledgerWhere(poor), ledgerWhere());
  expect(passed).toEqual({ told: "sent", nodes: null, read: [0, 1], sent: 1 });
  const early = await relayed(ledgerWhere(poor), ledgerWhere({ isEarly: true }));
  expect(early).toMatchObject({ read: [0, 1, 0], sent: 1 });
});
