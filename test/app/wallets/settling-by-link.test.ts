import { afterAll, beforeAll, expect, test } from "bun:test";
import { LOCAL_USDC_MINT } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { scanQrCode } from "../../adapters/http/support/scan-qr-code.ts";
import { FULFILLED, PENDING, PUBLIC_URL, refusalOf, walletService } from "./wallet-service.ts";

let service: Awaited<ReturnType<typeof walletService>>;
beforeAll(async () => {
  service = await walletService();
}, 60_000);
afterAll(() => service.stop(), 60_000);

test("the QR code on the page of an expired escrow refunds it, by a wallet that gets nothing", async () => {
  const page = await fetch(`${service.url}/v1/evidence/${PENDING}`, {
    headers: { accept: "text/html", host: "evil.example", "x-forwarded-host": "evil.example" },
  });
  const html = await page.text();
  // The packet's address follows the Host header, and the wallet's link does not.
  expect(html).toContain(`http://evil.example/v1/evidence/${PENDING}`);
  const link = scanQrCode(html, "QR code that runs the refund");
  expect(link).toBe(`solana:${PUBLIC_URL}/v1/actions/refund/${PENDING}`);
  expect(html).toContain(`<a href="${link}">`);
  const { agent_owner, amount_stroops } = await service.escrowAt(PENDING);
  const wallet = service.wallet("merchant/places");
  expect(wallet.address as string).not.toBe(agent_owner);
  const shown = await wallet.show(link);
  expect(shown.disabled).toBeUndefined();
  expect(shown.label).toEndWith(` to ${agent_owner}`);
  expect(shown.description).toContain("Nothing goes to whoever runs the refund");
  const balanceOf = async (owner: string): Promise<bigint> => {
    const { value } = await service.rpc<{
      value: ReadonlyArray<{
        account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } };
      }>;
    }>("getTokenAccountsByOwner", [owner, { mint: LOCAL_USDC_MINT }, { encoding: "jsonParsed" }]);
    return value.reduce(
      (sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount),
      0n,
    );
  };
  const before = await balanceOf(agent_owner);
  const { signedTransaction } = await wallet.sign(link, await service.latestBlockhash());
  await service.land(signedTransaction);
  expect((await service.escrowAt(PENDING)).state).toBe("Refunded");
  expect(await balanceOf(agent_owner)).toBe(before + BigInt(amount_stroops));
  const after = await wallet.show(link);
  expect([after.disabled, after.label]).toEqual([true, "Refund not possible now"]);
  expect(after.error?.message).toContain("nothing is left for its agent");
  expect((await refusalOf(wallet.sign(link, await service.latestBlockhash())))[0]).toBe(409);
}, 60_000);

test("a link archives a settled escrow, and only once", async () => {
  const wallet = service.wallet("agent/trader");
  const linkOf = (scheme: string) => `${scheme}:${PUBLIC_URL}/v1/actions/archive/${FULFILLED}`;
  for (const scheme of ["solana", "solana-action"]) {
    const shown = await wallet.show(linkOf(scheme));
    expect(shown.disabled).toBeUndefined();
    expect(shown.description).toMatch(/ lamports of rent go to \w+, who paid them\./);
  }
  const signed = await wallet.sign(linkOf("solana-action"), await service.latestBlockhash());
  await service.land(signed.signedTransaction);
  expect((await service.escrowAt(FULFILLED)).archived).not.toBeNull();
  const after = await wallet.show(linkOf("solana"));
  expect([after.disabled, after.error?.message]).toEqual([
    true,
    "The escrow was settled and archived, and cannot change. What is left of it is returned by its refund and its rent.",
  ]);
  const [status] = await refusalOf(wallet.sign(linkOf("solana"), await service.latestBlockhash()));
  expect(status).toBe(409);
}, 60_000);
