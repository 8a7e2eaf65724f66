import { expect, test } from "bun:test";
import { Duration, Effect } from "effect";
import { TestClock } from "effect/testing";
import { RELAY_POLICY } from "../../core/domain/relay/relay-policy.ts";
import type { RelayEntry } from "../../core/domain/relay/relay-entry.ts";
import { decodeWireTransaction } from "../../core/protocol/transaction/wire-transaction.ts";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import { readRelayOutcome } from "../../core/use-cases/relay/read-relay-outcome.ts";
import { relayTransaction } from "../../core/use-cases/relay/relay-transaction.ts";
import { RelayDelivery } from "../../core/use-cases/relay/relay-delivery.ts";
import { JOBS } from "../chaos/relay/prepared-jobs.ts";
import {
  EARLIER,
  relayOver,
  type ScriptedLedger,
  scriptedPorts,
} from "../core/use-cases/relay/scripted-ledger.ts";

const [attempt] = JOBS[0] ?? [];
if (attempt === undefined) throw new Error("no job");
const decoded = decodeWireTransaction(decodeBase64(attempt.base64) ?? new Uint8Array());
if ("malformed" in decoded) throw new Error("x");
const transaction = decoded.value;
const { signature } = transaction;

const entry: RelayEntry = {
  signature,
  transaction: transaction.bytes,
  feePayer: transaction.feePayer,
  lastValidBlockHeight: 1150n,
  openedAtSlot: 1995n,
  openedAtMs: 0,
  outcome: null,
};
const round = TestClock.adjust(Duration.millis(RELAY_POLICY.rebroadcastMs));
const told = (setUp: (script: ScriptedLedger) => void) => {
  const { script, ports } = scriptedPorts();
  return Effect.gen(function* () {
    const delivery = yield* RelayDelivery;
    yield* delivery.accept(entry, null);
    setUp(script);
    yield* round;
    return yield* readRelayOutcome(signature);
  }).pipe(Effect.provide(relayOver(ports)), Effect.runPromise);
};

// H6-1a: one false block height, everything else honest: the slot moved by 5, the height "by 215".
test("one false finalized block height makes a transaction that can still land expired", async () => {
  const outcome = await told((script) => {
    script.falseHeight = 215n; // the slot is a few above openedAtSlot
  });
  // The blockhash is still valid (the node says so when asked), and nothing landed yet.
  expect(outcome.status).toBe("pending");
  expect(outcome.safeToSignAgain).toBe(false);
});

// H6-2: status with a false error, while the account shows the effect.
test("a status that says finalized with a false error, while the escrow is there", async () => {
  const outcome = await told((script) => {
    script.accounts.set(attempt.escrow.address, attempt.escrow);
    script.listed = [{ signature, slot: 2000n, failed: false }, EARLIER];
    script.landed.set(signature, {
      slot: 2000n,
      commitment: "finalized",
      error: {
        kind: "InstructionError",
        instructionIndex: 0,
        instructionError: "Custom",
        customCode: 6018,
      },
    });
  });
  expect(outcome.safeToSignAgain).toBe(false);
});

// H6-2b: and for a signature that this relay never took on (live read).
void relayTransaction;

// H6-3: a status that claims finality above the finalized tip.
test("a status that says finalized at a slot above the finalized tip is not the outcome yet", async () => {
  const { script, ports } = scriptedPorts();
  const outcome = await Effect.gen(function* () {
    const delivery = yield* RelayDelivery;
    yield* delivery.accept(entry, null);
    // the finalized tip is slot 2000
    script.landed.set(signature, { slot: 2_600n, commitment: "finalized", error: null });
    yield* round;
    // the block was dropped with its fork; the node is honest from here on
    script.landed.clear();
    yield* round;
    return {
      sent: script.sent.length,
      underWay: yield* delivery.underWay,
      ...(yield* readRelayOutcome(signature)),
    };
  }).pipe(Effect.provide(relayOver(ports)), Effect.runPromise);
  expect(outcome.underWay).toBe(1);
  expect(outcome.status).toBe("pending");
});

// H6-4: landed before `openedAtSlot` (sent elsewhere first); the node keeps its history from just below openedAtSlot.
test("a transaction that landed just before it was opened here is not expired because a node forgot that slot", async () => {
  // Landed, failed, at slot 1990 (the payer sent it to a node of his own). The node forgot all below 1994; 1995 opened.
  const outcome = await told((script) => {
    script.blockHeight = 1215n;
    script.historyStart = 1994n;
    script.listed = [{ ...EARLIER, slot: 1994n }];
  });
  expect(outcome.status).toBe("pending");
});
