import { expect, test } from "bun:test";
import { outcomeValues, relayEntryOf, type RelayRow } from "../../../adapters/sql/relay-row.ts";
import { ledgerSignatureFromBytes } from "../../../core/domain/ledger/signature.ts";
import type { FinalOutcome } from "../../../core/domain/relay/relay-entry.ts";

const signature = ledgerSignatureFromBytes(new Uint8Array(64).fill(7));
const error = {
  kind: "InstructionError",
  instructionIndex: 0,
  instructionError: "Custom",
  customCode: 6025,
};

const rowOf = (outcome: FinalOutcome["status"], told: string | null): RelayRow => ({
  signature,
  wire: new Uint8Array(),
  fee_payer: "",
  last_valid_block_height: 1n,
  opened_at_slot: 1n,
  opened_at_ms: 1n,
  outcome,
  outcome_at: 5n,
  error: told,
});

test.each<FinalOutcome>([
  { status: "landed", slot: 5n, error: null },
  { status: "landed", slot: 5n, error, nodes: 2 },
  { status: "expired", blockHeight: 5n, supersededBy: null, nodes: 1 },
  { status: "expired", blockHeight: 5n, supersededBy: signature, nodes: 2 },
])("an outcome comes back with how many nodes told it: %p", (outcome) => {
  const [status, , told] = outcomeValues(signature, outcome);
  expect(relayEntryOf(rowOf(status as FinalOutcome["status"], told)).outcome).toEqual(outcome);
});

test("outcomes of an earlier version are read as they were written", () => {
  const read = (status: FinalOutcome["status"], told: string | null) =>
    relayEntryOf(rowOf(status, told)).outcome;
  expect(read("expired", null)).toEqual({ status: "expired", blockHeight: 5n, supersededBy: null });
  expect(read("expired", signature)).toEqual({
    status: "expired",
    blockHeight: 5n,
    supersededBy: signature,
  });
  expect(read("landed", JSON.stringify(error))).toEqual({ status: "landed", slot: 5n, error });
});
