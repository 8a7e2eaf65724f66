import { afterAll, describe, expect, test } from "bun:test";
import { localGenesis } from "../../../adapters/local-ledger/genesis/genesis.ts";
import {
  LOCAL_AUTHORITY,
  LOCAL_USDC_MINT,
  localKey,
} from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { type Address, address } from "../../../core/domain/address.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import {
  associatedTokenAddress,
  programDataAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import { decodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import { decodeProgramDataAccount } from "../../../core/protocol/accounts/loader-v3.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { decodeMerchantAccount } from "../../../core/protocol/accounts/merchant-account.ts";
import { call, startLedger, temporaryFolder } from "./ledger-fixture.ts";

const folder = temporaryFolder();
const started = () =>
  startLedger({ directory: folder.path, genesis: localGenesis({ demo: true }) });
const { rpc, url, stop } = started();
afterAll(folder.remove);

const programAccounts = async (program: Address): Promise<ReadonlyArray<LedgerAccount>> => {
  const accounts = await rpc.getProgramAccounts(program, { encoding: "base64" }).send();
  return accounts.map(({ pubkey, account }) => ({
    address: address(pubkey),
    owner: address(account.owner),
    lamports: account.lamports,
    executable: account.executable,
    data: new Uint8Array(Buffer.from(account.data[0], "base64")),
  }));
};

const escrows = async (): Promise<ReadonlyArray<Escrow>> =>
  (await programAccounts(LOCAL_DEPLOYMENT.custodyProgram)).flatMap((account) => {
    const decoded = decodeEscrowAccount(account, LOCAL_DEPLOYMENT);
    return "value" in decoded ? [decoded.value] : [];
  });

const tokens = async (owner: string) => {
  const { result } = await call(
    url,
    "getTokenAccountBalance",
    associatedTokenAddress(address(owner), LOCAL_USDC_MINT),
  );
  return Number((result as { value: { amount: string } }).value.amount);
};

describe("a new ledger with demo data", () => {
  test("has both programs as they were built, under the local upgrade authority", async () => {
    for (const name of ["custody", "attestor"] as const) {
      const program = LOCAL_DEPLOYMENT[`${name}Program`];
      const { value } = await rpc
        .getMultipleAccounts([program, programDataAddress(program)], {
          encoding: "base64",
        })
        .send();
      expect(value[0]?.executable).toBe(true);
      const decoded = decodeProgramDataAccount({
        owner: address(value[1]?.owner ?? ""),
        data: new Uint8Array(Buffer.from(value[1]?.data[0] ?? "", "base64")),
      });
      const built = await Bun.file(
        new URL(`../../../programs/${name}.so`, import.meta.url),
      ).bytes();
      expect(decoded?.elf).toEqual(built);
      expect(decoded?.upgradeAuthority).toBe(LOCAL_AUTHORITY.address);
    }
  });

  test("has one escrow in each state, with the balances of its outcome", async () => {
    const all = await escrows();
    expect(all.map(({ state }) => state).toSorted()).toEqual([
      "Fulfilled",
      "PartiallyFulfilled",
      "Pending",
      "Refunded",
    ]);
    expect(await tokens(localKey("merchant/forecast").address)).toBe(12_500_000);
    expect(await tokens(localKey("merchant/prices").address)).toBe(25_000_000);
    expect(await tokens(localKey("agent/planner").address)).toBe(1_000_000_000 - 32_500_000);
    expect(await tokens(localKey("agent/trader").address)).toBe(1_000_000_000 - 25_000_000);
  });

  test("has three merchants, one of them suspended", async () => {
    const merchants = (await programAccounts(LOCAL_DEPLOYMENT.attestorProgram)).flatMap(
      (account) => {
        const decoded = decodeMerchantAccount(account, LOCAL_DEPLOYMENT);
        return "value" in decoded ? [decoded.value] : [];
      },
    );
    expect(merchants.map(({ status }) => status).toSorted()).toEqual([
      "Active",
      "Active",
      "Suspended",
    ]);
  });

  test("is made by transactions in its past, and its clock shows wall time", async () => {
    const nowSeconds = Date.now() / 1000;
    const slot = await rpc.getSlot({ commitment: "processed" }).send();
    const { result } = await call(
      url,
      "getAccountInfo",
      "SysvarC1ock11111111111111111111111111111111",
      {
        commitment: "processed",
        encoding: "base64",
      },
    );
    const [data] = (result as { value: { data: [string] } }).value.data;
    const clock = Number(Buffer.from(data, "base64").readBigInt64LE(32));
    expect(clock).toBeGreaterThanOrEqual(Math.floor(nowSeconds) - 2);
    expect(clock).toBeLessThanOrEqual(Date.now() / 1000 + 1);
    for (const escrow of await escrows()) {
      expect(Number(escrow.createdAt)).toBeLessThan(nowSeconds - 600);
      const history = await rpc.getSignaturesForAddress(escrow.address).send();
      expect(history).toHaveLength(escrow.state === "Pending" ? 1 : 2);
      expect(history.every(({ err, slot: landed }) => err === null && landed < slot)).toBe(true);
      expect(history.at(-1)?.blockTime as bigint | undefined).toBe(escrow.createdAt);
    }
  });

  test("is found unchanged by a second start", async () => {
    const before = await escrows();
    const hash = await rpc.getGenesisHash().send();
    await stop();
    const again = started();
    expect(await again.rpc.getGenesisHash().send()).toBe(hash);
    const { result } = await call(
      again.url,
      "getProgramAccounts",
      LOCAL_DEPLOYMENT.custodyProgram,
      {
        encoding: "base64",
        filters: [{ dataSize: 416 }],
      },
    );
    expect(result).toHaveLength(before.length);
    await again.stop();
  });
});
