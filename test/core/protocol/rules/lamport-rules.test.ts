import { expect, test } from "bun:test";
import fc from "fast-check";
import { payerFault } from "../../../../core/protocol/rules/lamport-rules.ts";
import { decodeRentSysvar } from "../../../../core/protocol/accounts/sysvars.ts";
import { RENT_SYSVAR } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { walletAccount } from "../../../doubles/accounts.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { TestLedger } from "../../../programs/fixture/test-ledger.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";

const payer = wallet("fee payer").address;
const rent = decodeRentSysvar(new TestLedger().account(RENT_SYSVAR));
if (rent === undefined) throw new Error("no rent");

const CREATE = { fee: 10_000n, deposits: 5_491_440n, returned: 0n };

test("a payer is told one balance that is enough, whether it holds nothing or only the fee", () => {
  const enough =
    "6392320 are enough: the fee of 10000, deposits of 5491440 and the rent minimum of 890880, which it keeps";
  expect(payerFault(null, rent, CREATE)).toBe(`the payer holds 0 lamports; ${enough}`);
  expect(payerFault(walletAccount(payer, 1_000_000n), rent, CREATE)).toBe(
    `the payer holds 1000000 lamports; ${enough}`,
  );
});

test("without deposits the fee and the rent minimum are enough", () => {
  expect(payerFault(null, rent, { fee: 5000n, deposits: 0n, returned: 0n })).toBe(
    "the payer holds 0 lamports; 895880 are enough: the fee of 5000 and the rent minimum of 890880, which it keeps",
  );
});

test("who holds what was named can pay, whatever the fee, the deposits and what comes back", () => {
  const lamports = fc.bigInt({ min: 0n, max: 10n ** 10n });
  fc.assert(
    fc.property(lamports, lamports, lamports, lamports, (held, fee, deposits, returned) => {
      const spent = { fee: fee + 1n, deposits, returned };
      const fault = payerFault(walletAccount(payer, held), rent, spent);
      if (fault === undefined) return;
      const enough = BigInt(/; (\d+) are enough/.exec(fault)?.[1] ?? -1);
      expect(enough).toBeGreaterThan(held);
      expect(payerFault(walletAccount(payer, enough), rent, spent)).toBeUndefined();
    }),
    runs(200),
  );
});
