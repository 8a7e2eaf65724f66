import { expect, test } from "bun:test";
import {
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import { Effect, Exit } from "effect";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { relayTransaction } from "../../../../core/use-cases/relay/relay-transaction.ts";
import * as s from "../../../programs/fixture/settlement.ts";
import type { TestLedger } from "../../../programs/fixture/test-ledger.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";
import { relayOver, scriptedPorts, TABLE_PROGRAM, tableData } from "./scripted-ledger.ts";
import { blockhashOf } from "./signed.ts";

const table = wallet("address table").address;
const inTable = [s.vault, s.escrow, s.agentTokens, s.agent.address];

/** The refund of the escrow as base64. All its accounts except the programs come from the table. */
const refund = (): string => {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayer(s.stranger.address, m),
    (m) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhashOf(1) as Blockhash, lastValidBlockHeight: 0n },
        m,
      ),
    (m) => appendTransactionMessageInstructions([s.refundInstruction()], m),
    (m) => compressTransactionMessageUsingAddressLookupTables(m, { [table]: [...inTable] }),
  );
  const bytes = new Uint8Array(compileTransaction(message).messageBytes);
  return encodeBase64(Uint8Array.from([1, ...s.stranger.sign(bytes), ...bytes]));
};

const relayed = (ledger: TestLedger) => {
  ledger.fund(s.stranger.address);
  const { script, ports } = scriptedPorts(ledger);
  const request = { signedTransaction: refund(), confirm: false, skipPreflight: true };
  return Effect.exit(relayTransaction(request))
    .pipe(Effect.provide(relayOver(ports)), Effect.runPromise)
    .then((exit) => {
      const failure = Exit.findErrorOption(exit);
      return { failure: failure._tag === "Some" ? failure.value : undefined, sent: script.sent };
    });
};
const withTable = (addresses = inTable): TestLedger => {
  const ledger = s.escrowLedger();
  ledger.put(table, TABLE_PROGRAM, tableData(addresses));
  return ledger;
};

test("an escrow from an address table is checked like any other", async () => {
  const early = await relayed(withTable());
  expect(early.failure).toMatchObject({ _tag: "SettlementCheckFailed", rule: "not_expired" });
  const ledger = withTable();
  ledger.time = s.START + BigInt(s.TTL_SECONDS);
  const due = await relayed(ledger);
  expect(due.failure).toBeUndefined();
  expect(due.sent).toHaveLength(1);
});

test("a table that is missing, is not a table, or is too short is named", async () => {
  const foreign = s.escrowLedger();
  foreign.put(table, s.deployment.custodyProgram, tableData(inTable));
  for (const ledger of [s.escrowLedger(), foreign])
    expect((await relayed(ledger)).failure).toMatchObject({
      _tag: "LookupTableNotAllowed",
      detail: `there is no address table at ${table}`,
    });
  expect((await relayed(withTable(inTable.slice(0, 2)))).failure).toMatchObject({
    _tag: "LookupTableNotAllowed",
    detail: `the address table ${table} has no entry at an index that the transaction uses`,
  });
});
