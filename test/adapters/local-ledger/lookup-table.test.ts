import { afterAll, expect, test } from "bun:test";
import {
  appendTransactionMessageInstruction,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import { transferLamports } from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { manualTime } from "../../../adapters/local-ledger/runtime/time/slots.ts";
import { address, addressToBytes } from "../../../core/domain/address.ts";
import {
  type Instruction,
  readonly,
  readonlySigner,
  writable,
  writableSigner,
} from "../../../core/domain/ledger/instruction.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import { findProgramDerivedAddress } from "../../../core/protocol/addresses/program-derived-address.ts";
import { SYSTEM_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { call, sign, startLedger } from "./ledger-fixture.ts";

const LOOKUP_TABLE_PROGRAM = address("AddressLookupTab1e1111111111111111111111111");
const time = manualTime(Date.now());
const { rpc, url, stop } = startLedger({ time });
afterAll(stop);

test("accounts of a lookup table, made on this ledger, can be paid and appear in the history", async () => {
  const payer = await generateKeyPairSigner();
  const owner = address(payer.address);
  const { address: to } = await generateKeyPairSigner();
  await rpc
    .requestAirdrop(payer.address, lamports(10_000_000_000n), { commitment: "processed" })
    .send();
  time.advance(800);

  // The program accepts only a slot that the SlotHashes sysvar holds.
  const recentSlot = await rpc.getSlot().send();
  const seeds = [addressToBytes(owner), fieldWriter(8).u64(recentSlot).done()];
  const table = findProgramDerivedAddress(LOOKUP_TABLE_PROGRAM, seeds);
  const create: Instruction = {
    programAddress: LOOKUP_TABLE_PROGRAM,
    accounts: [
      writable(table.address),
      readonlySigner(owner),
      writableSigner(owner),
      readonly(SYSTEM_PROGRAM),
    ],
    data: fieldWriter(13).u32(0).u64(recentSlot).u8(table.bump).done(),
  };
  const extend: Instruction = {
    ...create,
    data: fieldWriter(44).u32(2).u64(1n).address(address(to)).done(),
  };
  const lifetime = async () => (await rpc.getLatestBlockhash().send()).value;
  const send = (wire: string) => call(url, "sendTransaction", wire, { encoding: "base64" });
  const made = await sign(payer, await lifetime(), [create, extend]);
  expect((await send(getBase64EncodedWireTransaction(made))).error).toBeUndefined();
  time.advance(400);

  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayerSigner(payer, m),
    (m) => appendTransactionMessageInstruction(transferLamports(owner, address(to), 1_000_000n), m),
    (m) =>
      compressTransactionMessageUsingAddressLookupTables(m, {
        [table.address]: [to],
      }),
  );
  const signed = await signTransactionMessageWithSigners(
    setTransactionMessageLifetimeUsingBlockhash(await lifetime(), message),
  );
  const simulated = await call(
    url,
    "simulateTransaction",
    getBase64EncodedWireTransaction(signed),
    {
      encoding: "base64",
    },
  );
  // SIMD-0186: the payer, the System program, and a table at its largest, whatever it holds.
  expect(simulated.result).toMatchObject({
    value: {
      loadedAccountsDataSize: 64 + 64 + "system_program".length + 8248,
      loadedAddresses: { writable: [to], readonly: [] },
    },
  });
  const { result: signature, error } = await send(getBase64EncodedWireTransaction(signed));
  expect(error).toBeUndefined();
  time.advance(400);
  expect((await rpc.getBalance(to).send()).value).toBe(lamports(1_000_000n));
  const { result } = await call(url, "getTransaction", signature, {
    maxSupportedTransactionVersion: 0,
  });
  expect(result).toMatchObject({
    meta: {
      loadedAddresses: { writable: [to], readonly: [] },
      postBalances: [expect.any(Number), 1, 1_000_000],
    },
    transaction: { message: { addressTableLookups: [{ accountKey: table.address }] } },
  });
  expect((await call(url, "getSignaturesForAddress", to)).result).toMatchObject([{ signature }]);
});
