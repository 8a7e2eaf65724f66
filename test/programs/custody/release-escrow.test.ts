import { describe, expect, test } from "bun:test";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { AccountRole, type Instruction } from "../../../core/domain/ledger/instruction.ts";
import {
  associatedTokenAddress,
  custodyConfigAddress,
  escrowAddress,
  merchantAddress,
  registryAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import {
  initializeRegistryInstruction,
  setMerchantStatusInstruction,
} from "../../../core/protocol/instructions/attestor-instructions.ts";
import { initializeCustodyInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import { encodeMerchantAccount } from "../../../core/protocol/accounts/merchant-account.ts";
import { TOKEN_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import * as s from "../fixture/settlement.ts";
import {
  deployAcceptEverything,
  forgeCopy,
  nowhere,
  withAccount,
  withData,
  withRole,
} from "../fixture/tampering.ts";
import { CAPTURED, captured, capturedLedger, released } from "../fixture/settlement-attempts.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { putMint, putTokenAccount, tokenBalance } from "../fixture/token-account.ts";
import { wallet } from "../fixture/wallet.ts";

const attest = s.attestInstruction();
const release = s.releaseInstruction();

/** The release after a valid attestation, sent by a stranger. */
const refusal = (ledger: TestLedger, instruction: Instruction): string | undefined =>
  ledger.send([attest, instruction], [s.stranger]).refusal;

test("of all pays the whole vault to the merchant and keeps the signed claim on record", () => {
  const ledger = s.escrowLedger();
  ledger.time = s.START + 5n;
  ledger.do([attest, release], [s.stranger]);
  expect(tokenBalance(ledger, s.merchantTokens)).toBe(s.AMOUNT);
  expect(tokenBalance(ledger, s.vault)).toBeUndefined();
  expect(s.readEscrow(ledger)).toMatchObject({
    state: "Fulfilled",
    settledBy: "release",
    amount: s.AMOUNT,
    released: s.AMOUNT,
    deliveries: 1,
    settledAt: s.START + 5n,
    attestor: s.attestor.address,
    attestation: {
      proofHash: s.PROOF,
      attestedAt: s.START,
      signature: encodeBase64(attest.data.slice(48, 112)),
    },
  });
});

test("of a part pays that part and leaves the rest in the vault, which is the agent's", () => {
  const ledger = s.escrowLedger();
  ledger.do([s.attestInstruction({ total: 2_000_000n }), release], [s.stranger]);
  expect(tokenBalance(ledger, s.merchantTokens)).toBe(2_000_000n);
  expect(tokenBalance(ledger, s.vault)).toBe(3_000_000n);
  expect(s.readEscrow(ledger)).toMatchObject({
    state: "PartiallyFulfilled",
    settledBy: "release",
    amount: s.AMOUNT,
    released: 2_000_000n,
    deliveries: 1,
  });
  expect(s.readMerchant(ledger)).toMatchObject({
    deliveries: 0n,
    partialDeliveries: 1n,
    volume: 2_000_000n,
  });
});

describe("of a session", () => {
  test("pays what was not captured, settles and counts one delivery with its total", () => {
    const ledger = capturedLedger();
    ledger.time = s.START + 5n;
    ledger.do(released(3_000_000n, 4), [s.stranger]);
    expect(tokenBalance(ledger, s.merchantTokens)).toBe(3_000_000n);
    expect(tokenBalance(ledger, s.vault)).toBe(s.AMOUNT - 3_000_000n);
    expect(s.readEscrow(ledger)).toMatchObject({
      state: "PartiallyFulfilled",
      settledBy: "release",
      released: 3_000_000n,
      deliveries: 4,
      settledAt: s.START + 5n,
      settledSeq: 2n,
    });
    expect(s.readMerchant(ledger)).toMatchObject({
      deliveries: 0n,
      partialDeliveries: 1n,
      volume: 3_000_000n,
      reputation: 1,
    });
  });

  test("works without any capture before", () => {
    const ledger = s.sessionLedger();
    ledger.do(released(7n, 2), [s.stranger]);
    expect(s.readEscrow(ledger)).toMatchObject({ released: 7n, deliveries: 2 });
  });

  test("of what was captured already pays nothing and settles", () => {
    const ledger = capturedLedger();
    ledger.do(released(CAPTURED, 3), [s.stranger]);
    expect(tokenBalance(ledger, s.merchantTokens)).toBe(CAPTURED);
    expect(s.readEscrow(ledger)).toMatchObject({ released: CAPTURED, settledBy: "release" });
  });

  test("of all gives the merchant what strangers sent and closes the vault into the escrow", () => {
    const ledger = capturedLedger();
    putTokenAccount(ledger, s.escrow, s.mint, s.AMOUNT - CAPTURED + 9n);
    const { lamports } = ledger.account(s.escrow);
    ledger.do(released(s.AMOUNT, 9), [s.stranger]);
    expect(tokenBalance(ledger, s.merchantTokens)).toBe(s.AMOUNT + 9n);
    expect(tokenBalance(ledger, s.vault)).toBeUndefined();
    expect(ledger.account(s.escrow).lamports - lamports).toBe(ledger.rentExempt(165));
    expect(s.readEscrow(ledger)).toMatchObject({ state: "Fulfilled", released: s.AMOUNT });
    expect(s.readMerchant(ledger)).toMatchObject({ deliveries: 1n, volume: s.AMOUNT });
  });

  test("after all was captured closes the empty vault", () => {
    const ledger = s.sessionLedger();
    ledger.do(captured(s.AMOUNT, 9), [s.stranger]);
    ledger.do(released(s.AMOUNT, 9), [s.stranger]);
    expect(tokenBalance(ledger, s.vault)).toBeUndefined();
    expect(tokenBalance(ledger, s.merchantTokens)).toBe(s.AMOUNT);
  });
});

test("leaves the vault's rent in the escrow account for whoever paid it", () => {
  const ledger = s.merchantLedger();
  const payer = wallet("rent payer");
  ledger.fund(payer.address);
  ledger.do([s.createInstruction({ payer: payer.address })], [s.agent, payer]);
  const before = ledger.account(payer.address).lamports;
  ledger.do([s.attestOn(ledger), release], [s.stranger]);
  expect(ledger.send([s.rentInstruction()], [s.stranger]).refusal).toBe("6023 WrongRentPayer");
  ledger.do([s.rentInstruction({ rentPayer: payer.address })], [s.stranger]);
  expect(ledger.account(payer.address).lamports - before).toBe(ledger.rentExempt(165));
});

test("tokens that a stranger sent into the vault go to the merchant, and do not count as released", () => {
  const ledger = s.escrowLedger();
  putTokenAccount(ledger, s.escrow, s.mint, s.AMOUNT + 9n);
  ledger.do([attest, release], [s.stranger]);
  expect(tokenBalance(ledger, s.merchantTokens)).toBe(s.AMOUNT + 9n);
  expect(s.readEscrow(ledger).released).toBe(s.AMOUNT);
});

test("pays the merchant's associated account although the sender names another one of the merchant's", () => {
  const ledger = s.escrowLedger();
  const other = putTokenAccount(ledger, s.merchant.address, s.mint, 1n, wallet("till").address);
  ledger.do([attest, s.releaseInstruction({ merchantFallbackAccount: other })], [s.stranger]);
  expect(tokenBalance(ledger, other)).toBe(1n);
  expect(tokenBalance(ledger, s.merchantTokens)).toBe(s.AMOUNT);
});

test("a merchant suspended meanwhile is still paid", () => {
  const ledger = s.escrowLedger();
  const admin = s.upgradeAuthority.address;
  const suspend = { admin, merchant: s.merchant.address, status: "Suspended" } as const;
  ledger.do([setMerchantStatusInstruction(s.deployment, suspend)], [s.upgradeAuthority]);
  ledger.do([attest, release], [s.stranger]);
  expect(s.readEscrow(ledger).state).toBe("Fulfilled");
});

test("one transaction settles two escrows, each by its own attestation", () => {
  const ledger = s.escrowLedger();
  const taskHash = s.hashOf(0x33);
  ledger.do([s.createInstruction({ taskHash })], [s.agent]);
  const second = escrowAddress(s.deployment, s.agent.address, taskHash).address;
  ledger.do(
    [
      attest,
      s.attestOn(ledger, { escrow: second }),
      release,
      s.releaseInstruction({ escrow: second }),
    ],
    [s.stranger],
  );
  expect(s.readEscrow(ledger, second).state).toBe("Fulfilled");
  expect(tokenBalance(ledger, s.merchantTokens)).toBe(2n * s.AMOUNT);
});

test("succeeds one second before expiry and fails from expiry on", () => {
  const expiry = s.START + BigInt(s.TTL_SECONDS);
  const late = s.attestInstruction({ timestamp: expiry - 1n });
  const ledger = s.escrowLedger();
  for (const time of [expiry, expiry + 1n]) {
    ledger.time = time;
    expect(ledger.send([late, release], [s.stranger]).refusal).toBe("6025 Expired");
  }
  ledger.time = expiry - 1n;
  ledger.do([late, release], [s.stranger]);
});

describe("an escrow settles once:", () => {
  test.each([
    ["release_escrow", () => release],
    ["capture", () => s.captureInstruction()],
  ])("%s after a release is refused", (_, again) => {
    const ledger = s.escrowLedger();
    ledger.do([attest, release], [s.stranger]);
    putTokenAccount(ledger, s.escrow, s.mint, s.AMOUNT);
    expect(refusal(ledger, again())).toBe("6024 NotPending");
    ledger.time = s.START + BigInt(s.TTL_SECONDS);
    expect(refusal(ledger, again())).toBe("6024 NotPending");
  });

  test("two releases in one transaction are refused together", () => {
    const ledger = s.escrowLedger();
    expect(ledger.send([attest, release, release], [s.stranger]).refusal).toBe("6024 NotPending");
    expect(s.readEscrow(ledger).state).toBe("Pending");
  });
});

/** The release with one account replaced. */
const replaced = (ledger: TestLedger, name: string, address: typeof nowhere) =>
  refusal(ledger, withAccount(release, name, address));

describe("refuses", () => {
  test("an escrow that custody did not make", () => {
    const ledger = s.escrowLedger();
    expect(replaced(ledger, "escrow", forgeCopy(ledger, s.escrow))).toBe("6019 WrongEscrow");
    const foreign = forgeCopy(ledger, s.escrow, { owner: s.deployment.attestorProgram });
    expect(replaced(ledger, "escrow", foreign)).toBe("6019 WrongEscrow");
    const config = custodyConfigAddress(s.deployment).address;
    expect(replaced(ledger, "escrow", config)).toBe("6019 WrongEscrow");
    expect(replaced(ledger, "escrow", nowhere)).toBe("6019 WrongEscrow");
  });

  test("a foreign vault, even one that the escrow owns", () => {
    const ledger = s.escrowLedger();
    const at = wallet("strange vault").address;
    putTokenAccount(ledger, s.escrow, s.mint, s.AMOUNT, at);
    expect(replaced(ledger, "vault", at)).toBe("6021 WrongVault");
    expect(replaced(ledger, "vault", s.agentTokens)).toBe("6021 WrongVault");
    const otherMintVault = putTokenAccount(ledger, s.escrow, s.otherMint, s.AMOUNT);
    expect(replaced(ledger, "vault", otherMintVault)).toBe("6021 WrongVault");
    putTokenAccount(ledger, s.escrow, s.mint, s.AMOUNT - 1n);
    expect(refusal(ledger, release)).toBe("6021 WrongVault");
  });

  test("a payout account of another owner or mint", () => {
    const ledger = s.escrowLedger();
    const wrong = [
      s.agentTokens,
      s.vault,
      associatedTokenAddress(s.merchant.address, s.otherMint),
      forgeCopy(ledger, s.merchantTokens, { owner: deployAcceptEverything(ledger) }),
      nowhere,
    ];
    for (const address of wrong)
      expect(replaced(ledger, "merchant_token_account", address)).toBe(
        "6022 WrongMerchantTokenAccount",
      );
  });

  test("the merchant's associated account after a change of owner, and pays the merchant's fallback account instead", () => {
    const ledger = s.escrowLedger();
    putTokenAccount(ledger, s.stranger.address, s.mint, 0n, s.merchantTokens);
    expect(refusal(ledger, release)).toBe("6030 PayoutAccountUnusable");
    const other = putTokenAccount(ledger, s.merchant.address, s.mint, 0n, wallet("till").address);
    expect(replaced(ledger, "merchant_token_account", other)).toBe(
      "6022 WrongMerchantTokenAccount",
    );
    const toOther = s.releaseInstruction({ merchantFallbackAccount: other });
    expect(refusal(ledger, toOther)).toBeUndefined();
    expect(tokenBalance(ledger, other)).toBe(s.AMOUNT);
  });

  test("another merchant's account", () => {
    const ledger = s.escrowLedger();
    ledger.do([s.registerInstruction(s.stranger, s.attestor.address)], [s.stranger]);
    const other = merchantAddress(s.deployment, s.stranger.address).address;
    const registry = registryAddress(s.deployment).address;
    for (const wrong of [other, forgeCopy(ledger, s.merchantPda), registry, s.vault])
      expect(replaced(ledger, "merchant", wrong)).toBe("6013 WrongMerchant");
  });

  test("a forged config, registry or Instructions sysvar", () => {
    const ledger = s.escrowLedger();
    const config = forgeCopy(ledger, custodyConfigAddress(s.deployment).address);
    expect(replaced(ledger, "config", config)).toBe("6007 WrongConfig");
    const registry = forgeCopy(ledger, registryAddress(s.deployment).address);
    expect(replaced(ledger, "registry", registry)).toBe("6107 WrongRegistry");
    const sysvar = forgeCopy(ledger, s.agentTokens);
    expect(replaced(ledger, "instructions_sysvar", sysvar)).toBe("6047 WrongInstructionsSysvar");
  });

  test("a fake attestor or token program", () => {
    const ledger = s.escrowLedger();
    const fake = deployAcceptEverything(ledger);
    expect(replaced(ledger, "attestor_program", fake)).toBe("6008 WrongAttestorProgram");
    expect(replaced(ledger, "token_program", fake)).toBe("6010 WrongTokenProgram");
  });

  test("no attestation, even when the recorded attestor program accepts everything", () => {
    const ledger = s.deployedLedger();
    const deployment = { ...s.deployment, attestorProgram: deployAcceptEverything(ledger) };
    const by = { payer: s.upgradeAuthority.address, upgradeAuthority: s.upgradeAuthority.address };
    ledger.do(
      [initializeCustodyInstruction(deployment, { ...by, genesisHash: s.genesisHash })],
      [s.upgradeAuthority],
    );
    const { address, bump } = merchantAddress(deployment, s.merchant.address);
    const registered = s.readMerchant(s.merchantLedger());
    ledger.put(
      address,
      deployment.attestorProgram,
      encodeMerchantAccount({ ...registered, address, bump }),
    );
    ledger.do([withAccount(s.createInstruction(), "merchant", address)], [s.agent]);
    const instruction = withAccount(
      withAccount(release, "attestor_program", deployment.attestorProgram),
      "merchant",
      address,
    );
    const sent = (...attestations: ReadonlyArray<Instruction>) =>
      ledger.send([...attestations, instruction], [s.stranger]).refusal;
    expect(sent()).toBe("6027 AttestationMissing");
    expect(sent(s.attestOn(ledger, {}, s.stranger))).toBe("6041 WrongAttestor");
    expect(sent(s.attestOn(ledger))).toBeUndefined();
  });

  test("a vault frozen by its mint's freeze authority, which stays whole", () => {
    const ledger = s.escrowLedger();
    putMint(ledger, s.mint, s.stranger.address);
    const frozen = ledger.account(s.vault).data.with(108, 2);
    ledger.put(s.vault, TOKEN_PROGRAM, frozen);
    // TokenError::AccountFrozen
    expect(refusal(ledger, release)).toBe("custom 17");
    expect(tokenBalance(ledger, s.vault)).toBe(s.AMOUNT);
  });

  test.each(["escrow", "vault", "merchant", "merchant_token_account", "config"])(
    "%s read-only",
    (name) => {
      const instruction = withRole(release, name, AccountRole.readonly);
      expect(refusal(s.escrowLedger(), instruction)).toBe("6003 AccountNotWritable");
    },
  );

  test("data of another length, or too few accounts", () => {
    const ledger = s.escrowLedger();
    const short = withData(release, release.data.slice(0, -1));
    expect(refusal(ledger, short)).toBe("6000 InvalidInstruction");
    const accounts = release.accounts.slice(0, -1);
    expect(refusal(ledger, { ...release, accounts })).toBe("6001 MissingAccount");
  });
});

test("initialising again with another attestor program is refused", () => {
  const ledger = s.escrowLedger();
  const by = { payer: s.upgradeAuthority.address, upgradeAuthority: s.upgradeAuthority.address };
  const again = withAccount(
    initializeCustodyInstruction(s.deployment, { ...by, genesisHash: s.genesisHash }),
    "attestor_program",
    deployAcceptEverything(ledger),
  );
  expect(ledger.send([again], [s.upgradeAuthority]).refusal).toBe("6006 AlreadyInitialized");
  const registry = initializeRegistryInstruction(s.deployment, {
    ...by,
    settlementMint: s.otherMint,
  });
  expect(ledger.send([registry], [s.upgradeAuthority]).refusal).toBe("6106 AlreadyInitialized");
});
