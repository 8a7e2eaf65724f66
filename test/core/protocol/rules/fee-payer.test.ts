import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { feePayerFault, payerFault } from "../../../../core/protocol/rules/lamport-rules.ts";
import { decodeRentSysvar } from "../../../../core/protocol/accounts/sysvars.ts";
import {
  MEMO_PROGRAM,
  RENT_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { rentSysvarData } from "../../../arbitraries/rent-sysvar-data.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { TestLedger } from "../../../programs/fixture/test-ledger.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";
import { walletAccount } from "../../../doubles/accounts.ts";

const payer = wallet("fee payer");

const account = (change: Partial<LedgerAccount> = {}): LedgerAccount => ({
  address: payer.address,
  owner: SYSTEM_PROGRAM,
  lamports: 10n ** 9n,
  executable: false,
  data: new Uint8Array(),
  ...change,
});

const ledger = new TestLedger();

const rentAccount = ledger.account(RENT_SYSVAR);

describe("the Rent sysvar", () => {
  test("gives the minimum that the runtime requires", () => {
    const rent = decodeRentSysvar(rentAccount);
    for (const length of [0, 1, 80, 165, 10_240])
      expect(rent?.minimumBalance(length)).toBe(ledger.rentExempt(length));
  });

  test("with an older threshold of two years gives the same", () => {
    const data = rentSysvarData(3480n, 2);
    expect(decodeRentSysvar({ ...rentAccount, data })?.minimumBalance(0)).toBe(890_880n);
  });

  test("that is missing or has another form gives undefined", () => {
    expect(decodeRentSysvar(null)).toBeUndefined();
    expect(decodeRentSysvar({ ...rentAccount, data: new Uint8Array(16) })).toBeUndefined();
    const notANumber = rentSysvarData(6960n, Number.NaN);
    expect(decodeRentSysvar({ ...rentAccount, data: notANumber })).toBeUndefined();
  });
});

describe("a fee payer", () => {
  const rent = decodeRentSysvar(rentAccount);

  test("that does not exist, or holds too little, is refused with its balance", () => {
    expect(feePayerFault(null, rent, 5000n)).toMatchObject({ balanceLamports: 0n });
    expect(feePayerFault(account({ lamports: 4999n }), rent, 5000n)).toMatchObject({
      balanceLamports: 4999n,
    });
  });

  test("that holds neither nothing nor a nonce cannot pay, and one of another program cannot", () => {
    for (const change of [{ owner: TOKEN_PROGRAM }, { data: new Uint8Array(165) }])
      expect(feePayerFault(account(change), rent, 5000n)).toMatchObject({
        error: { kind: "InvalidAccountForFee" },
      });
  });

  test("that holds a nonce keeps its rent minimum", () => {
    const data = new Uint8Array(80);
    const minimum = ledger.rentExempt(80);
    const holding = (lamports: bigint) => feePayerFault(account({ data, lamports }), rent, 5000n);
    expect(holding(minimum + 5000n)).toBeNull();
    expect(holding(minimum + 4999n)).toMatchObject({ rentMinimumLamports: minimum });
  });

  test("is checked by its balance alone when the rent is not known", () => {
    expect(feePayerFault(account({ lamports: 890_880n }), undefined, 5000n)).toBeNull();
  });

  test("is refused only when the runtime drops its transaction; without data, also whenever it drops it", () => {
    const memo = { programAddress: MEMO_PROGRAM, accounts: [], data: Uint8Array.of(109) };
    const minimum = ledger.rentExempt(0);
    const lamports = fc.oneof(
      fc.bigInt({ min: 1n, max: 20_000n }),
      fc.bigInt({ min: minimum, max: minimum + 20_000n }),
      fc.constantFrom(5000n, minimum + 4999n, minimum + 5000n),
    );
    fc.assert(
      fc.property(lamports, fc.constantFrom(0, 80, 165), (lamports, length) => {
        const own = account({ lamports, data: new Uint8Array(length) });
        ledger.set(own);
        const { refusal, logs } = ledger.send([memo], [payer]);
        const isDropped = refusal !== undefined && logs.length === 0;
        const isRefused = feePayerFault(own, rent, 5000n) !== null;
        if (isRefused) expect(isDropped).toBe(true);
        // 80 zero bytes are not a nonce, but only the ledger checks that.
        if (length === 0) expect(isRefused).toBe(isDropped);
      }),
      runs(100),
    );
  });
});

describe("lamport rules", () => {
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
});
