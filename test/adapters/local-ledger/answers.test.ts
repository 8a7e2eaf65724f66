import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Base64EncodedWireTransaction,
  type Blockhash,
  lamports,
  type Signature,
  type TransactionMessageBytesBase64,
} from "@solana/kit";
import { localGenesis } from "../../../adapters/local-ledger/genesis/genesis.ts";
import { transferLamports } from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { LOCAL_USDC_MINT, localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { signedTransaction } from "../../../adapters/local-ledger/genesis/signed-transaction.ts";
import { rpcMethods } from "../../../adapters/local-ledger/rpc/methods/methods.ts";
import { manualTime } from "../../../adapters/local-ledger/runtime/time/slots.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { associatedTokenAddress } from "../../../core/protocol/addresses/addresses.ts";
import { TOKEN_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { startLedger } from "./ledger-fixture.ts";

const time = manualTime(Date.now());
const { rpc, stop, ledger } = startLedger({ genesis: localGenesis({ demo: true }), time });
afterAll(stop);

const agent = localKey("agent/planner");
const tokens = associatedTokenAddress(agent.address, LOCAL_USDC_MINT);
const version0 = { maxSupportedTransactionVersion: 0 } as const;

/**
 * The form of a value as kit returns it: type names for plain values, the form of the first member for a list. kit
 * turns every integer into a bigint except at known paths, so a field at another path has another form.
 */
const formOf = (value: unknown): unknown => {
  if (value === null) return null;
  if (Array.isArray(value)) return value.slice(0, 1).map(formOf);
  if (typeof value !== "object") return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, formOf(of)]));
};

const wire = (amount: bigint): Base64EncodedWireTransaction => {
  const { blockhash } = ledger.latestBlockhash();
  const instructions = [transferLamports(agent.address, localKey("someone").address, amount)];
  return encodeBase64(
    signedTransaction({ payer: agent, instructions, blockhash }),
  ) as Base64EncodedWireTransaction;
};
/** What is signed of a transaction with one signature. */
const message = (): TransactionMessageBytesBase64 =>
  Buffer.from(wire(1n), "base64").subarray(65).toString("base64") as TransactionMessageBytesBase64;

let signature: Signature;
beforeAll(async () => {
  const [newest] = await rpc.getSignaturesForAddress(agent.address, { limit: 1 }).send();
  if (newest === undefined) throw new Error("the demo agent has no history");
  signature = newest.signature;
});

const context = { apiVersion: "string", slot: "bigint" };
const inContext = (value: unknown) => ({ context, value });
const account = {
  data: ["string"],
  executable: "boolean",
  lamports: "bigint",
  owner: "string",
  rentEpoch: "bigint",
  space: "bigint",
};
const uiAmount = {
  amount: "string",
  decimals: "number",
  uiAmount: "number",
  uiAmountString: "string",
};
const tokenBalance = {
  accountIndex: "number",
  mint: "string",
  owner: "string",
  programId: "string",
  uiTokenAmount: uiAmount,
};
const called = {
  accounts: ["number"],
  data: "string",
  programIdIndex: "number",
  stackHeight: "number",
};
const meta = {
  computeUnitsConsumed: "bigint",
  err: null,
  fee: "bigint",
  innerInstructions: [{ index: "number", instructions: [called] }],
  loadedAddresses: { readonly: [], writable: [] },
  logMessages: ["string"],
  postBalances: ["bigint"],
  postTokenBalances: [tokenBalance],
  preBalances: ["bigint"],
  preTokenBalances: [tokenBalance],
  rewards: [],
  status: { Ok: null },
};
const transaction = {
  message: {
    accountKeys: ["string"],
    addressTableLookups: [],
    header: {
      numReadonlySignedAccounts: "number",
      numReadonlyUnsignedAccounts: "number",
      numRequiredSignatures: "number",
    },
    instructions: [called],
    recentBlockhash: "string",
  },
  signatures: ["string"],
};

/** Each method, asked through kit, and the form of Agave's documented answer (`rpc-client-types/src/response.rs`). */
const answers: Readonly<Record<string, readonly [ask: () => Promise<unknown>, form: unknown]>> = {
  getAccountInfo: [
    () => rpc.getAccountInfo(agent.address, { encoding: "base64" }).send(),
    inContext(account),
  ],
  getBalance: [() => rpc.getBalance(agent.address).send(), inContext("bigint")],
  getBlockHeight: [() => rpc.getBlockHeight().send(), "bigint"],
  getBlockTime: [() => rpc.getBlockTime(1n).send(), "bigint"],
  getEpochInfo: [
    () => rpc.getEpochInfo().send(),
    {
      absoluteSlot: "bigint",
      blockHeight: "bigint",
      epoch: "bigint",
      slotIndex: "bigint",
      slotsInEpoch: "bigint",
      transactionCount: "bigint",
    },
  ],
  getFeeForMessage: [() => rpc.getFeeForMessage(message()).send(), inContext("bigint")],
  getFirstAvailableBlock: [() => rpc.getFirstAvailableBlock().send(), "bigint"],
  getGenesisHash: [() => rpc.getGenesisHash().send(), "string"],
  getHealth: [() => rpc.getHealth().send(), "string"],
  getLatestBlockhash: [
    () => rpc.getLatestBlockhash().send(),
    inContext({ blockhash: "string", lastValidBlockHeight: "bigint" }),
  ],
  getMinimumBalanceForRentExemption: [
    () => rpc.getMinimumBalanceForRentExemption(165n).send(),
    "bigint",
  ],
  getMultipleAccounts: [
    () => rpc.getMultipleAccounts([agent.address], { encoding: "base64" }).send(),
    inContext([account]),
  ],
  getProgramAccounts: [
    () => rpc.getProgramAccounts(TOKEN_PROGRAM, { encoding: "base64", withContext: true }).send(),
    inContext([{ account, pubkey: "string" }]),
  ],
  getRecentPrioritizationFees: [
    () => rpc.getRecentPrioritizationFees([agent.address]).send(),
    [{ prioritizationFee: "bigint", slot: "bigint" }],
  ],
  getSignatureStatuses: [
    () => rpc.getSignatureStatuses([signature]).send(),
    inContext([
      {
        confirmationStatus: "string",
        confirmations: null,
        err: null,
        slot: "bigint",
        status: { Ok: null },
      },
    ]),
  ],
  getSignaturesForAddress: [
    () => rpc.getSignaturesForAddress(agent.address, { limit: 1 }).send(),
    [
      {
        blockTime: "bigint",
        confirmationStatus: "string",
        err: null,
        memo: null,
        signature: "string",
        slot: "bigint",
      },
    ],
  ],
  getSlot: [() => rpc.getSlot().send(), "bigint"],
  getTokenAccountBalance: [() => rpc.getTokenAccountBalance(tokens).send(), inContext(uiAmount)],
  getTokenAccountsByOwner: [
    () =>
      rpc
        .getTokenAccountsByOwner(
          agent.address,
          { mint: LOCAL_USDC_MINT },
          { encoding: "jsonParsed" },
        )
        .send(),
    inContext([
      {
        account: {
          ...account,
          data: {
            parsed: {
              info: {
                isNative: "boolean",
                mint: "string",
                owner: "string",
                state: "string",
                tokenAmount: uiAmount,
              },
              type: "string",
            },
            program: "string",
            space: "bigint",
          },
        },
        pubkey: "string",
      },
    ]),
  ],
  getTokenSupply: [() => rpc.getTokenSupply(LOCAL_USDC_MINT).send(), inContext(uiAmount)],
  getTransaction: [
    () => rpc.getTransaction(signature, { ...version0, encoding: "json" }).send(),
    { blockTime: "bigint", meta, slot: "bigint", transaction, version: "number" },
  ],
  getVersion: [() => rpc.getVersion().send(), { "feature-set": "number", "solana-core": "string" }],
  isBlockhashValid: [
    () => rpc.isBlockhashValid(ledger.latestBlockhash().blockhash as Blockhash).send(),
    inContext("boolean"),
  ],
  requestAirdrop: [
    () =>
      rpc.requestAirdrop(agent.address, lamports(1_000_000n), { commitment: "processed" }).send(),
    "string",
  ],
  sendTransaction: [
    () => rpc.sendTransaction(wire(2_000_000n), { encoding: "base64" }).send(),
    "string",
  ],
  simulateTransaction: [
    () => rpc.simulateTransaction(wire(3_000_000n), { encoding: "base64" }).send(),
    inContext({
      accounts: null,
      err: null,
      fee: "bigint",
      innerInstructions: null,
      loadedAccountsDataSize: "number",
      loadedAddresses: { readonly: [], writable: [] },
      logs: ["string"],
      postBalances: ["bigint"],
      postTokenBalances: [],
      preBalances: ["bigint"],
      preTokenBalances: [],
      replacementBlockhash: null,
      returnData: null,
      unitsConsumed: "bigint",
    }),
  ],
};

describe("every answer has Agave's fields where kit looks for them", () => {
  test.each(Object.entries(answers))("%s", async (_, [ask, form]) => {
    expect(formOf(await ask())).toEqual(form);
  });

  test("no method is missing here but this ledger's own", () => {
    const served = [...rpcMethods(ledger, { holdUntilConfirmed: () => undefined }).keys()].filter(
      (name) => name !== "requestTokenAirdrop",
    );
    expect(Object.keys(answers).toSorted()).toEqual(served.toSorted());
  });
});
