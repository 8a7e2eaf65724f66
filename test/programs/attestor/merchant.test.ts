import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ZERO_ADDRESS } from "../../../core/domain/address.ts";
import {
  AccountRole,
  type Instruction,
  readonly,
} from "../../../core/domain/ledger/instruction.ts";
import { merchantAddress, registryAddress } from "../../../core/protocol/addresses/addresses.ts";
import {
  rotateAttestorInstruction,
  setMerchantStatusInstruction,
  slashMerchantInstruction,
} from "../../../core/protocol/instructions/attestor-instructions.ts";
import { encodeMerchantAccount } from "../../../core/protocol/accounts/merchant-account.ts";
import { isMerchantName } from "../../../core/domain/merchant/merchant.ts";
import * as s from "../fixture/settlement.ts";
import { capturedLedger, released } from "../fixture/settlement-attempts.ts";
import { forgeCopy, nowhere, withAccount, withData, withRole } from "../fixture/tampering.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { wallet, type Wallet } from "../fixture/wallet.ts";
import { anyCharacter } from "../../arbitraries/any-character.ts";

const register = s.registerInstruction(s.merchant, s.attestor.address);
const admin = s.upgradeAuthority;
const next = wallet("next attestor").address;
const rotate = rotateAttestorInstruction(s.deployment, {
  merchant: s.merchant.address,
  attestor: next,
});
const suspend = setMerchantStatusInstruction(s.deployment, {
  admin: admin.address,
  merchant: s.merchant.address,
  status: "Suspended",
});
const slash = (points: number): Instruction =>
  slashMerchantInstruction(s.deployment, {
    admin: admin.address,
    merchant: s.merchant.address,
    points,
  });

const refusal = (ledger: TestLedger, instruction: Instruction, by: Wallet): string | undefined =>
  ledger.send([instruction], [by]).refusal;

/** The account at an unused address. */
const EMPTY = { lamports: 0n, owner: ZERO_ADDRESS, executable: false, data: new Uint8Array() };

/** Sets the registered merchant's account to a state that transactions would reach slowly. */
const put = (ledger: TestLedger, change: Partial<ReturnType<typeof s.readMerchant>>): void =>
  ledger.put(
    s.merchantPda,
    s.deployment.attestorProgram,
    encodeMerchantAccount({ ...s.readMerchant(ledger), ...change }),
  );

/** Registers anew under a name of these bytes, whether they are text or not. */
const registerBytes = (ledger: TestLedger, name: Uint8Array): string | undefined => {
  ledger.set({ ...ledger.account(s.merchantPda), ...EMPTY });
  const data = new Uint8Array(44 + name.length);
  data.set(register.data.slice(0, 40));
  new DataView(data.buffer).setUint32(40, name.length, true);
  data.set(name, 44);
  return refusal(ledger, withData(register, data), s.merchant);
};

describe("register_merchant", () => {
  const shared = s.initializedLedger();

  test("makes an Active merchant without history", () => {
    const ledger = s.initializedLedger();
    ledger.do([register], [s.merchant]);
    expect(s.readMerchant(ledger)).toEqual({
      address: s.merchantPda,
      bump: merchantAddress(s.deployment, s.merchant.address).bump,
      wallet: s.merchant.address,
      name: "Weather Data Ltd",
      status: "Active",
      attestor: s.attestor.address,
      previousAttestor: null,
      attestorSince: s.START,
      registeredAt: s.START,
      updatedAt: s.START,
      reputation: 0,
      slashes: 0,
      deliveries: 0n,
      partialDeliveries: 0n,
      volume: 0n,
      revokedSeq: 0n,
    });
  });

  test("survives lamports sent to the account's address beforehand", () => {
    const ledger = s.initializedLedger();
    ledger.fund(s.merchantPda, 1_000_000n);
    ledger.do([register], [s.merchant]);
    expect(s.readMerchant(ledger).name).toBe("Weather Data Ltd");
  });

  test("works once for a wallet", () => {
    expect(refusal(s.merchantLedger(), register, s.merchant)).toBe("6112 MerchantExists");
  });

  test("needs the wallet's signature", () => {
    const unsigned = withRole(
      withAccount(register, "payer", s.stranger.address),
      "merchant_wallet",
      AccountRole.readonly,
    );
    expect(refusal(s.initializedLedger(), unsigned, s.stranger)).toBe("6102 MissingSignature");
  });

  test("takes a name of 1 to 32 bytes", () => {
    for (const name of ["", "x".repeat(33), "é".repeat(17)]) {
      const instruction = s.registerInstruction(s.merchant, s.attestor.address, name);
      expect(refusal(s.initializedLedger(), instruction, s.merchant)).toBe("6113 InvalidName");
    }
    const ledger = s.initializedLedger();
    ledger.do(
      [s.registerInstruction(s.merchant, s.attestor.address, "é".repeat(16))],
      [s.merchant],
    );
    expect(s.readMerchant(ledger).name).toBe("é".repeat(16));
  });

  // C0, U+007F and C1; Unicode's Bidi_Control; and their neighbours: docs/protocol.md, "attestor".
  const controls =
    "01 1b 1f 7f 4109 c280 c285 c29f 41c29f d89c e2808e e2808f e280aa e280ab e280ac e280ad e280ae e281a6 e281a7 " +
    "e281a8 e281a9 41e280ae42";
  const beside = "d89b d89d e2808d e28090 e280a9 e280af e281a5 e281aa d99c e2828e";
  test.each([...controls.split(" "), ...beside.split(" ")])(
    "takes the name %s only without control characters",
    (hex) => {
      const expected = beside.split(" ").includes(hex) ? undefined : "6113 InvalidName";
      expect(registerBytes(shared, Uint8Array.from(Buffer.from(hex, "hex")))).toBe(expected);
    },
  );

  test("accepts the same characters as core, in the blocks that hold controls", () => {
    const ledger = s.initializedLedger();
    const differing: Array<string> = [];
    for (const block of [0, 0x600, 0x2000])
      for (let code = block; code < block + 0x100; code++) {
        const name = String.fromCodePoint(code);
        const taken = registerBytes(ledger, new TextEncoder().encode(name)) === undefined;
        if (taken !== isMerchantName(name)) differing.push(code.toString(16));
      }
    expect(differing).toEqual([]);
  });

  // The bounds of well-formed UTF-8 from both sides: Unicode, table 3-7.
  const wellFormed = "20 7e c2a0 dfbf e0a080 ed9fbf ee8080 efbfbf f0908080 f3bfbfbf f48fbfbf";
  const illFormed =
    "00 4100 004100 80 8080 bf c0 c080 c1bf c2 c27f c2c0 41c2 e09fbf e0a0 e0a07f e0a0c0 eda080 edbfbf " +
    "f08fbfbf f09080 f0907f80 f0908041 f4908080 f5808080 ff 4180";
  test.each([...wellFormed.split(" "), ...illFormed.split(" ")])(
    "takes the name %s only if it is UTF-8",
    (hex) => {
      const expected = wellFormed.split(" ").includes(hex) ? undefined : "6113 InvalidName";
      expect(registerBytes(shared, Uint8Array.from(Buffer.from(hex, "hex")))).toBe(expected);
    },
  );

  test("accepts any text, and other bytes only if a strict decoder does", () => {
    const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const decodes = (bytes: Uint8Array): boolean => {
      try {
        return isMerchantName(strict.decode(bytes));
      } catch {
        return false;
      }
    };
    const text = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 8 });
    const names = fc.oneof(
      text.map((name) => new TextEncoder().encode(name)),
      fc.uint8Array({ minLength: 1, maxLength: 32 }),
    );
    fc.assert(
      fc.property(names, (name) => {
        const expected = decodes(name) ? undefined : "6113 InvalidName";
        expect(registerBytes(shared, name)).toBe(expected);
      }),
      { numRuns: 50 },
    );
  });

  test("needs a name of the stated length", () => {
    const ledger = s.initializedLedger();
    for (const data of [
      register.data.slice(0, -1),
      Uint8Array.of(...register.data, 0),
      register.data.with(43, 0x80),
      register.data.slice(0, 40),
      register.data.slice(0, 43),
    ])
      expect(refusal(ledger, withData(register, data), s.merchant)).toBe("6100 InvalidInstruction");
  });

  test("refuses the zero key as attestor", () => {
    const instruction = s.registerInstruction(s.merchant, ZERO_ADDRESS);
    expect(refusal(s.initializedLedger(), instruction, s.merchant)).toBe("6114 InvalidAttestor");
  });

  test("needs the registry first", () => {
    expect(refusal(s.deployedLedger(), register, s.merchant)).toBe("6107 WrongRegistry");
  });

  test.each([
    ["merchant", nowhere, "6111 WrongMerchant"],
    ["registry", nowhere, "6107 WrongRegistry"],
    ["system_program", s.deployment.custodyProgram, "6109 WrongSystemProgram"],
  ])("refuses another account as %s", (name, address, code) => {
    const instruction = withAccount(register, name, address);
    expect(refusal(s.initializedLedger(), instruction, s.merchant)).toBe(code);
  });
});

describe("rotate_attestor", () => {
  test("replaces the key and keeps the former one and the time", () => {
    const ledger = s.merchantLedger();
    ledger.time = s.START + 60n;
    ledger.do([rotate], [s.merchant]);
    expect(s.readMerchant(ledger)).toMatchObject({
      attestor: next,
      previousAttestor: s.attestor.address,
      attestorSince: s.START + 60n,
      updatedAt: s.START + 60n,
      registeredAt: s.START,
    });
  });

  test("needs the merchant wallet's signature", () => {
    const ledger = s.merchantLedger();
    const unsigned = withRole(rotate, "merchant_wallet", AccountRole.readonly);
    expect(refusal(ledger, unsigned, s.stranger)).toBe("6102 MissingSignature");
    const stolen = withAccount(rotate, "merchant_wallet", s.stranger.address);
    expect(refusal(ledger, stolen, s.stranger)).toBe("6111 WrongMerchant");
    const forged = withAccount(rotate, "merchant", forgeCopy(ledger, s.merchantPda));
    expect(refusal(ledger, forged, s.merchant)).toBe("6111 WrongMerchant");
  });

  test("refuses the zero key and the present one", () => {
    for (const attestor of [ZERO_ADDRESS, s.attestor.address]) {
      const input = { merchant: s.merchant.address, attestor };
      const instruction = rotateAttestorInstruction(s.deployment, input);
      expect(refusal(s.merchantLedger(), instruction, s.merchant)).toBe("6114 InvalidAttestor");
    }
  });
});

describe("the admin", () => {
  test("suspends and reinstates", () => {
    const ledger = s.merchantLedger();
    ledger.time = s.START + 7n;
    ledger.do([suspend], [admin]);
    expect(s.readMerchant(ledger)).toMatchObject({ status: "Suspended", updatedAt: s.START + 7n });
    ledger.do([withData(suspend, suspend.data.with(8, 0))], [admin]);
    expect(s.readMerchant(ledger).status).toBe("Active");
  });

  test("refuses an unknown status", () => {
    const unknown = withData(suspend, suspend.data.with(8, 2));
    expect(refusal(s.merchantLedger(), unknown, admin)).toBe("6115 InvalidStatus");
  });

  test.each([
    [10, 3, 7],
    [10, 10, 0],
    [10, 11, 0],
    [0, 2 ** 32 - 1, 0],
  ])("slashes a reputation of %d by %d to %d", (reputation, points, left) => {
    const ledger = s.merchantLedger();
    put(ledger, { reputation });
    ledger.time = s.START + 7n;
    ledger.do([slash(points)], [admin]);
    expect(s.readMerchant(ledger)).toMatchObject({
      reputation: left,
      slashes: 1,
      updatedAt: s.START + 7n,
    });
  });

  test.each([
    ["set_merchant_status", suspend],
    ["slash_merchant", slash(1)],
  ])("alone may %s", (_, instruction) => {
    const ledger = s.merchantLedger();
    const byStranger = withAccount(instruction, "admin", s.stranger.address);
    expect(refusal(ledger, byStranger, s.stranger)).toBe("6110 NotAdmin");
    const unsigned = withRole(instruction, "admin", AccountRole.readonly);
    expect(refusal(ledger, unsigned, s.stranger)).toBe("6102 MissingSignature");
    const registry = forgeCopy(ledger, registryAddress(s.deployment).address);
    expect(refusal(ledger, withAccount(instruction, "registry", registry), admin)).toBe(
      "6107 WrongRegistry",
    );
    const merchant = forgeCopy(ledger, s.merchantPda, { at: wallet("another copy").address });
    expect(refusal(ledger, withAccount(instruction, "merchant", merchant), admin)).toBe(
      "6111 WrongMerchant",
    );
  });
});

test("an attestor instruction that is unknown, or lacks data or accounts, is refused", () => {
  const ledger = s.merchantLedger();
  for (const data of [new Uint8Array(), new Uint8Array(8), rotate.data.slice(0, -1)])
    expect(refusal(ledger, withData(rotate, data), s.merchant)).toBe("6100 InvalidInstruction");
  const few = rotate.accounts.slice(0, 1);
  const many = Array.from({ length: 33 }, (_, i) => rotate.accounts[i] ?? readonly(nowhere));
  expect(refusal(ledger, { ...rotate, accounts: few }, s.merchant)).toBe("6101 MissingAccount");
  expect(refusal(ledger, { ...rotate, accounts: many }, s.merchant)).toBe("6126 TooManyAccounts");
  const fixed = withRole(rotate, "merchant", AccountRole.readonly);
  expect(refusal(ledger, fixed, s.merchant)).toBe("6103 AccountNotWritable");
});

describe("deliveries", () => {
  const release = [s.attestInstruction(), s.releaseInstruction()];

  test("in the settlement mint count towards reputation and volume", () => {
    const ledger = s.escrowLedger();
    ledger.time = s.START + 9n;
    ledger.do(release, [s.stranger]);
    expect(s.readMerchant(ledger)).toMatchObject({
      deliveries: 1n,
      partialDeliveries: 0n,
      reputation: 1,
      volume: s.AMOUNT,
      updatedAt: s.START + 9n,
    });
  });

  test("in part count as such, with the part's amount", () => {
    const ledger = s.escrowLedger();
    ledger.do([s.attestInstruction({ total: 7n }), s.releaseInstruction()], [s.stranger]);
    expect(s.readMerchant(ledger)).toMatchObject({
      deliveries: 0n,
      partialDeliveries: 1n,
      reputation: 1,
      volume: 7n,
    });
  });

  test("of a session count once, at its release, with its total", () => {
    const ledger = capturedLedger();
    expect(s.readMerchant(ledger)).toMatchObject({ partialDeliveries: 0n, volume: 0n });
    ledger.do(released(3_000_000n, 40), [s.stranger]);
    expect(s.readMerchant(ledger)).toMatchObject({
      deliveries: 0n,
      partialDeliveries: 1n,
      reputation: 1,
      volume: 3_000_000n,
    });
  });

  test("in another mint count as deliveries only", () => {
    const ledger = s.merchantLedger();
    ledger.do([s.createInstruction({ mint: s.otherMint })], [s.agent]);
    ledger.do([s.attestOn(ledger), s.releaseInstruction({ mint: s.otherMint })], [s.stranger]);
    expect(s.readMerchant(ledger)).toMatchObject({ deliveries: 1n, reputation: 0, volume: 0n });
  });

  test("never overflow a counter, and settle at its maximum too", () => {
    const ledger = s.escrowLedger();
    const full = {
      reputation: 2 ** 32 - 1,
      deliveries: 2n ** 64n - 1n,
      volume: 2n ** 64n - s.AMOUNT,
    };
    put(ledger, full);
    ledger.do(release, [s.stranger]);
    expect(s.readMerchant(ledger)).toMatchObject({ ...full, volume: 2n ** 64n - 1n });
    put(ledger, { slashes: 2 ** 32 - 1 });
    ledger.do([slash(1)], [admin]);
    expect(s.readMerchant(ledger).slashes).toBe(2 ** 32 - 1);
  });
});
