import { afterAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateKeyPairSigner, getBase64EncodedWireTransaction, lamports } from "@solana/kit";
import { faucet } from "../../../adapters/local-ledger/faucet.ts";
import { transferLamports } from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { localGenesis } from "../../../adapters/local-ledger/genesis/genesis.ts";
import {
  LOCAL_AUTHORITY,
  LOCAL_USDC_MINT,
} from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { manualTime } from "../../../adapters/local-ledger/runtime/time/slots.ts";
import { openLedger } from "../../../adapters/local-ledger/runtime/ledger.ts";
import { address } from "../../../core/domain/address.ts";
import { associatedTokenAddress } from "../../../core/protocol/addresses/addresses.ts";
import { call, sign, startLedger, temporaryFolder } from "./ledger-fixture.ts";
import { spawnLedger } from "./ledger-process.ts";

const folders: Array<() => void> = [];
afterAll(() => folders.forEach((remove) => remove()));
const folder = (): string => {
  const { path, remove } = temporaryFolder();
  folders.push(remove);
  return path;
};

test("everything acknowledged survives a restart, and a replay is still refused", async () => {
  const directory = folder();
  const time = manualTime(Date.now());
  const first = startLedger({ directory, time });
  const payer = await generateKeyPairSigner();
  const { address: to } = await generateKeyPairSigner();
  await first.rpc
    .requestAirdrop(payer.address, lamports(5_000_000_000n), { commitment: "processed" })
    .send();
  const { result: minted } = await call(first.url, "requestTokenAirdrop", to, 77, {
    commitment: "processed",
  });
  const { value: lifetime } = await first.rpc.getLatestBlockhash().send();
  const signed = await sign(payer, lifetime, [
    transferLamports(address(payer.address), address(to), 1_000_000_000n),
  ]);
  const wire = getBase64EncodedWireTransaction(signed);
  const signature = await first.rpc.sendTransaction(wire, { encoding: "base64" }).send();
  time.advance(400);
  const ata = associatedTokenAddress(address(to), LOCAL_USDC_MINT);
  const view = async ({ url }: typeof first) =>
    Promise.all([
      call(url, "getGenesisHash"),
      call(url, "getMultipleAccounts", [payer.address, to, ata, LOCAL_USDC_MINT]),
      call(url, "getTransaction", signature, { maxSupportedTransactionVersion: 0 }),
      call(url, "getTransaction", minted, { maxSupportedTransactionVersion: 0 }),
      call(url, "getSignaturesForAddress", to),
      call(url, "isBlockhashValid", lifetime.blockhash),
      call(url, "getTokenAccountsByOwner", to, { mint: LOCAL_USDC_MINT }, { encoding: "base64" }),
    ]);
  const before = await view(first);
  await first.stop();
  const second = startLedger({ directory, time });
  expect(await view(second)).toEqual(before);
  const replay = await call(second.url, "sendTransaction", wire, { encoding: "base64" });
  expect(replay.error).toMatchObject({ code: -32002, data: { err: "AlreadyProcessed" } });
  await second.stop();
});

test("an emptied account stays deleted after a restart", async () => {
  const directory = folder();
  const time = manualTime(Date.now());
  const first = startLedger({ directory, time });
  const payer = await generateKeyPairSigner();
  await first.rpc
    .requestAirdrop(payer.address, lamports(5_000_000n), { commitment: "processed" })
    .send();
  const { value: lifetime } = await first.rpc.getLatestBlockhash().send();
  const signed = await sign(payer, lifetime, [
    transferLamports(address(payer.address), address(LOCAL_USDC_MINT), 4_995_000n),
  ]);
  const wire = getBase64EncodedWireTransaction(signed);
  await first.rpc.sendTransaction(wire, { encoding: "base64" }).send();
  time.advance(400);
  const info = ({ rpc }: typeof first) =>
    rpc.getAccountInfo(payer.address, { encoding: "base64" }).send();
  expect((await info(first)).value).toBeNull();
  await first.stop();
  const second = startLedger({ directory, time });
  expect((await info(second)).value).toBeNull();
  await second.stop();
});

test("the ledger's clock never goes back, whatever the machine's clock says", async () => {
  const directory = folder();
  const genesis = localGenesis({ demo: false });
  const ahead = manualTime(Date.now() + 3_600_000);
  const first = openLedger({ directory, genesis, time: ahead });
  const signature = faucet(first).airdrop(LOCAL_AUTHORITY.address, 1_000_000n);
  ahead.advance(4000);
  const slot = first.slots.current();
  first.close();
  const second = openLedger({ directory, genesis });
  expect(second.slots.current()).toBeGreaterThanOrEqual(slot);
  expect(second.slots.visible("finalized")).toBeGreaterThan(
    second.log.find(signature)?.slot ?? Infinity,
  );
  second.close();
});

test("a second process is refused a folder in use, and the error names a damaged file", () => {
  const directory = folder();
  const genesis = localGenesis({ demo: false });
  const ledger = openLedger({ directory, genesis });
  expect(() => openLedger({ directory, genesis })).toThrow(
    /ledger\.sqlite: another process is using it/,
  );
  ledger.close();
  const damaged = folder();
  writeFileSync(join(damaged, "ledger.sqlite"), "no database at all, but long enough to be read");
  expect(() => openLedger({ directory: damaged, genesis })).toThrow(/ledger\.sqlite/);
});

test.each([
  [
    2,
    /holds escrows and merchants that these programs do not read.* Delete the folder .* or set another DATA_DIR/,
  ],
  [99, /schema version 99, expected \d+\. Delete the folder .* or set another DATA_DIR/],
] as const)(
  "a ledger of schema %i is refused, with the cure, and left as it was",
  (version, said) => {
    const directory = folder();
    const open = () => openLedger({ directory, genesis: localGenesis({ demo: false }) });
    open().close();
    const path = join(directory, "ledger.sqlite");
    const setVersion = (to: number) => {
      using database = new Database(path);
      database.run(`pragma user_version = ${to}`);
    };
    const before = new Database(path, { readonly: true });
    const { user_version: own } = before
      .query<{ user_version: number }, []>("pragma user_version")
      .get() ?? { user_version: 0 };
    before.close();
    setVersion(version);
    expect(open).toThrow(said);
    expect(open).toThrow(directory);
    setVersion(own);
    open().close();
  },
);

test("kill -9 at any moment loses nothing that was acknowledged", async () => {
  const directory = folder();
  const acknowledged: Array<string> = [];
  const { address: to } = await generateKeyPairSigner();
  let genesisHash = "";
  for (let round = 0; round < 4; round++) {
    const { child, ready } = await spawnLedger(directory);
    genesisHash ||= ready.genesis_hash;
    expect(ready.genesis_hash).toBe(genesisHash);
    const keepAsking = async () => {
      for (;;) {
        const { result } = await call(ready.rpc_url, "requestAirdrop", to, 1_000_000, {
          commitment: "processed",
        });
        acknowledged.push(result as string);
        // Killed between two answers, with three other requests under way.
        if (acknowledged.length % (17 + round) === 0) child.kill("SIGKILL");
      }
    };
    await Promise.allSettled([keepAsking(), keepAsking(), keepAsking(), keepAsking()]);
    await child.exited;
  }
  const { child, ready } = await spawnLedger(directory);
  const { result } = await call(ready.rpc_url, "getSignatureStatuses", acknowledged);
  expect((result as { value: Array<unknown> }).value.every((status) => status !== null)).toBe(true);
  const landed = (await call(ready.rpc_url, "getSignaturesForAddress", to))
    .result as Array<unknown>;
  const balance = await call(ready.rpc_url, "getBalance", to, { commitment: "processed" });
  expect(balance.result).toMatchObject({ value: landed.length * 1_000_000 });
  expect(landed.length).toBeGreaterThanOrEqual(acknowledged.length);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
}, 60_000);
