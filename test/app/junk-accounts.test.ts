import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Cause, Exit } from "effect";
import { faucet } from "../../adapters/local-ledger/faucet.ts";
import { createAccount } from "../../adapters/local-ledger/genesis/funding-instructions.ts";
import { localGenesis } from "../../adapters/local-ledger/genesis/genesis.ts";
import { LOCAL_USDC_MINT, localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { manualTime, SLOT_MS } from "../../adapters/local-ledger/runtime/time/slots.ts";
import { signedTransaction } from "../../adapters/local-ledger/genesis/signed-transaction.ts";
import type { Address } from "../../core/domain/address.ts";
import { type Instruction, readonly } from "../../core/domain/ledger/instruction.ts";
import type { SyncReport } from "../../core/domain/index/sync-report.ts";
import { taskHash } from "../../core/domain/escrow/task-hash.ts";
import { createEscrowInstruction } from "../../core/protocol/instructions/custody-instructions.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { call, startLedger, temporaryFolder } from "../adapters/local-ledger/ledger-fixture.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";

// A stranger makes accounts that custody owns, by transactions that anybody may send. The index must still work.

const MIB = 1024 * 1024;
/** As large as an account can be (Agave `system_interface`, `MAX_PERMITTED_DATA_LENGTH`). */
const LARGEST = 10 * MIB;
const { custodyProgram } = LOCAL_DEPLOYMENT;
const STRANGER = localKey("junk/stranger");

const time = manualTime(Date.now());
const { ledger, url, stop } = startLedger({ time, genesis: localGenesis({ demo: true }) });
const folder = temporaryFolder();
afterAll(async () => {
  await stop();
  folder.remove();
});

const settle = () => time.advance(SLOT_MS);

/** Sends a transaction over RPC, with the payer's signature first. */
const send = async (
  payer: typeof STRANGER,
  signers: ReadonlyArray<typeof STRANGER>,
  instructions: ReadonlyArray<Instruction>,
) => {
  const { blockhash } = ledger.latestBlockhash();
  const wire = signedTransaction({ payer, signers, instructions, blockhash });
  const text = Buffer.from(wire).toString("base64");
  const sent = await call(url, "sendTransaction", text, { encoding: "base64" });
  expect(sent.error).toBeUndefined();
};

/** Makes accounts that custody owns, each of `space` zero bytes, and returns their addresses. */
const flood = async (count: number, space: number): Promise<ReadonlyArray<Address>> => {
  const keys = Array.from({ length: count }, (_, number) => localKey(`junk/${space}/${number}`));
  for (const key of keys) {
    const lamports = ledger.minimumBalance(space);
    const parties = { payer: STRANGER.address, account: key.address };
    await send(
      STRANGER,
      [key],
      [createAccount({ ...parties, lamports, space, owner: custodyProgram })],
    );
  }
  settle();
  return keys.map(({ address }) => address);
};

/** Puts bytes into accounts that custody owns. A stranger's transactions cannot: they only make zeros. */
const plant = (count: number, length: number): void => {
  for (let number = 0; number < count; number++) {
    const data = new Uint8Array(randomBytes(length));
    const state = { owner: custodyProgram, lamports: 10n ** 11n, executable: false };
    const { address } = localKey(`junk/random/${length}/${number}`);
    ledger.plant(address, { ...state, data, rentEpoch: 2n ** 64n - 1n });
  }
};

let indexes = 0;
const openIndex = () =>
  openIndexOfNode({
    url,
    genesisHash: ledger.genesisHash,
    path: join(folder.path, String(++indexes), "index.sqlite"),
  });
/** A sync's report, or its failure. */
const outcomeOf = (exit: Exit.Exit<SyncReport, unknown>) =>
  Exit.isSuccess(exit) ? exit.value : { mode: "failed", cause: Cause.pretty(exit.cause) };
const snapshot = async () => {
  const index = await openIndex();
  const outcome = outcomeOf(await index.sync());
  await index.close();
  return outcome;
};
const DEMO = { mode: "snapshot", escrows: { created: 4, rejected: 0 }, merchants: { created: 3 } };

let index: Awaited<ReturnType<typeof openIndex>>;
beforeAll(async () => {
  const { airdrop } = faucet(ledger);
  airdrop(STRANGER.address, 900_000_000_000n);
  settle();
  index = await openIndex();
  expect(outcomeOf(await index.sync())).toMatchObject(DEMO);
});
afterAll(() => index.close());

test.each([
  ["many small ones", 100, 0],
  ["many of an escrow's length", 100, 368],
  ["one of 10 MiB", 1, LARGEST],
  ["several of 10 MiB", 4, LARGEST - 1],
])("a snapshot is not stopped by a stranger's accounts: %s", async (_name, count, space) => {
  await flood(count, space);
  expect(await snapshot()).toMatchObject(DEMO);
});

test.each([
  ["many small ones", 200, 40],
  ["many of an escrow's length", 200, 368],
  ["some of 10 MiB", 2, LARGEST],
])("accounts full of random bytes do not stop a snapshot: %s", async (_name, count, length) => {
  plant(count, length);
  expect(await snapshot()).toMatchObject(DEMO);
});

test("large accounts that a stranger's transaction names do not stop incremental syncs", async () => {
  const large = await flood(3, LARGEST - 2);
  const agent = localKey("agent/planner");
  const create = createEscrowInstruction(LOCAL_DEPLOYMENT, {
    payer: agent.address,
    agentOwner: agent.address,
    merchant: localKey("merchant/forecast").address,
    mint: LOCAL_USDC_MINT,
    taskHash: taskHash("names large accounts"),
    amount: 1n,
    ttlSeconds: 60,
  });
  const accounts = [...create.accounts, ...large.map(readonly)];
  await send(agent, [], [{ ...create, accounts }]);
  settle();
  expect(outcomeOf(await index.sync())).toMatchObject({
    mode: "incremental",
    escrows: { created: 1, rejected: 3 },
    rejected: large.map((address) => ({ address, fault: "wrong_length" })),
  });
});
