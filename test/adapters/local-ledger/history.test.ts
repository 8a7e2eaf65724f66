import { afterAll, describe, expect, test } from "bun:test";
import { generateKeyPairSigner, getBase64EncodedWireTransaction, lamports } from "@solana/kit";
import { LOCAL_USDC_MINT } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { manualTime } from "../../../adapters/local-ledger/runtime/time/slots.ts";
import { address } from "../../../core/domain/address.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { associatedTokenAddress } from "../../../core/protocol/addresses/addresses.ts";
import { MEMO_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { call, sign, startLedger } from "./ledger-fixture.ts";

const time = manualTime(Date.now());
const { rpc, url, stop } = startLedger({ time });
afterAll(stop);

const funded = async (amount = 10_000_000_000n) => {
  const signer = await generateKeyPairSigner();
  await rpc.requestAirdrop(signer.address, lamports(amount), { commitment: "processed" }).send();
  return signer;
};
const lifetime = async () => (await rpc.getLatestBlockhash().send()).value;
const memo = (text: string): Instruction => ({
  programAddress: MEMO_PROGRAM,
  accounts: [],
  data: new TextEncoder().encode(text),
});

describe("history", () => {
  test("an address's signatures page by before, until and limit, newest first", async () => {
    const payer = await funded();
    const sent: Array<string> = [];
    for (let i = 0; i < 5; i++) {
      const signed = await sign(payer, await lifetime(), [memo(`number ${i}`)]);
      sent.unshift(
        await rpc
          .sendTransaction(getBase64EncodedWireTransaction(signed), { encoding: "base64" })
          .send(),
      );
      time.advance(400);
    }
    const list = async (config: object) =>
      (await rpc.getSignaturesForAddress(payer.address, config).send()).map((s) => s.signature);
    const all = await list({});
    expect(all.slice(0, 5) as Array<string>).toEqual(sent);
    expect(all).toHaveLength(6);
    expect(await list({ limit: 2 })).toEqual(all.slice(0, 2));
    expect(await list({ before: all[1], limit: 2 })).toEqual(all.slice(2, 4));
    expect(await list({ until: all[2] })).toEqual(all.slice(0, 2));
    expect(await list({ before: all[0], until: all[3] })).toEqual(all.slice(1, 3));
    const [first] = await rpc.getSignaturesForAddress(payer.address, { limit: 1 }).send();
    expect(first).toMatchObject({ memo: "[8] number 4", err: null });
    expect(first?.confirmationStatus).toBe("finalized");
    expect(
      (await call(url, "getSignaturesForAddress", payer.address, { limit: 1001 })).error?.code,
    ).toBe(-32602);
    expect(
      (await call(url, "getSignaturesForAddress", payer.address, { commitment: "processed" })).error
        ?.code,
    ).toBe(-32602);
  });

  test("history at confirmed excludes the current slot", async () => {
    const payer = await funded();
    expect(await rpc.getSignaturesForAddress(payer.address).send()).toEqual([]);
    time.advance(400);
    const [airdrop] = await rpc.getSignaturesForAddress(payer.address).send();
    expect(airdrop?.slot).toBe(await rpc.getSlot().send());
  });

  test("a transaction shows balances, token balances, inner instructions and logs", async () => {
    const { address: owner } = await generateKeyPairSigner();
    const { result: signature } = await call(url, "requestTokenAirdrop", owner, 42, {
      commitment: "processed",
    });
    time.advance(400);
    const got = await rpc
      .getTransaction(signature as never, { encoding: "json", maxSupportedTransactionVersion: 0 })
      .send();
    const { meta, transaction } = got ?? {};
    const ata = associatedTokenAddress(address(owner), LOCAL_USDC_MINT);
    const at = transaction?.message.accountKeys.indexOf(ata) ?? -1;
    expect(meta?.preTokenBalances).toEqual([]);
    expect(meta?.postTokenBalances).toMatchObject([
      { accountIndex: at, mint: LOCAL_USDC_MINT, owner, uiTokenAmount: { amount: "42" } },
    ]);
    expect(meta?.preBalances[at]).toBe(lamports(0n));
    expect(meta?.postBalances[at]).toBe(lamports(2_039_280n));
    expect(meta?.innerInstructions?.[0]?.index).toBe(1);
    expect(meta?.innerInstructions?.[0]?.instructions).toHaveLength(4);
    expect(meta?.logMessages?.join("\n")).toContain("Program log: CreateIdempotent");
    expect(Number(meta?.computeUnitsConsumed)).toBeGreaterThan(0);
    const sums = [meta?.preBalances, meta?.postBalances].map((list) =>
      (list ?? []).reduce((sum: bigint, each) => sum + each, 0n),
    );
    expect(sums[0]).toBe((sums[1] ?? 0n) + (meta?.fee ?? 0n));
  });

  test("base64 returns the exact bytes, and a version 0 transaction must be asked for", async () => {
    const payer = await funded();
    const signed = await sign(payer, await lifetime(), [memo("bytes")]);
    const wire = getBase64EncodedWireTransaction(signed);
    const signature = await rpc.sendTransaction(wire, { encoding: "base64" }).send();
    time.advance(400);
    const got = await rpc
      .getTransaction(signature, { encoding: "base64", maxSupportedTransactionVersion: 0 })
      .send();
    expect(got?.transaction[0] as string).toBe(wire);
    expect((await call(url, "getTransaction", signature)).error?.code).toBe(-32015);
    const parsed = await call(url, "getTransaction", signature, {
      encoding: "jsonParsed",
      maxSupportedTransactionVersion: 0,
    });
    expect(parsed.result).toMatchObject({
      transaction: {
        message: {
          accountKeys: [
            { pubkey: payer.address, signer: true, writable: true, source: "transaction" },
            { pubkey: MEMO_PROGRAM, signer: false, writable: false },
          ],
          instructions: [{ programId: MEMO_PROGRAM, accounts: [] }],
        },
      },
    });
  });

  test("an unknown signature is null everywhere", async () => {
    const unknown = "1".repeat(64);
    expect((await call(url, "getTransaction", unknown)).result).toBeNull();
    expect((await call(url, "getSignatureStatuses", [unknown])).result).toMatchObject({
      value: [null],
    });
  });
});
