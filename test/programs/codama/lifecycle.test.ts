import { describe, expect, test } from "bun:test";
import { type Address, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import { hash32ToBytes } from "../../../core/domain/hash32.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { CUSTODY_CONSTANTS } from "../../../core/protocol/generated/custody.ts";
import { parseIdl } from "../../../programs/idl.ts";
import custodyJson from "../../../programs/custody.idl.json" with { type: "json" };
import { idlAddresses } from "../fixture/idl-addresses.ts";
import * as s from "../fixture/settlement.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { tokenBalance } from "../fixture/token-account.ts";
import { generated, type Named, signerOf } from "./generated-clients.ts";

const idl = parseIdl(JSON.stringify(custodyJson));

const { custody, attestor } = generated;

const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** A field of an account as the generated code decodes it. */
const fieldOn =
  (ledger: TestLedger) =>
  (at: Address, account: string, name: string): Address =>
    custody.account(account).decode(ledger.account(at).data)[camelCase(name)] as Address;

/**
 * A settlement by the generated client. Codama has no default for an address that follows from the escrow's own fields,
 * or for a bump. These are derived from the IDL, as Anchor's clients do. Nothing here comes from core.
 */
const settlement = async (
  ledger: TestLedger,
  name: string,
  input: Named = {},
): Promise<Instruction> => {
  const taskHash = hash32ToBytes(s.TASK);
  const escrow = await custody.find("escrow", { agentOwner: s.agent.address, taskHash });
  const known = { accounts: { escrow }, args: {}, field: fieldOn(ledger) };
  const found = await idlAddresses(idl, name, known);
  const given: Record<string, unknown> = { escrow };
  for (const { name: account, address, pda, relations } of idl.instructions.find(
    (each) => each.name === name,
  )?.accounts ?? []) {
    const nested = pda?.seeds.some((seed) => seed.kind === "account" && seed.path.includes("."));
    if (address === undefined && (nested === true || relations !== undefined))
      given[camelCase(account)] = found[account]?.address;
  }
  for (const payee of ["merchant", "agent"])
    given[`${payee}TokenBump`] = found[`${payee}_token_account`]?.bump;
  return custody.build(name, { ...given, ...input });
};

const register = () =>
  attestor.build("register_merchant", {
    payer: signerOf(s.merchant.address),
    merchantWallet: signerOf(s.merchant.address),
    attestor: s.attestor.address,
    name: "Weather Data Ltd",
  });

const create = (other: Named = {}) =>
  custody.build("create_escrow", {
    payer: signerOf(s.agent.address),
    agentOwner: signerOf(s.agent.address),
    merchantWallet: s.merchant.address,
    mint: s.mint,
    taskHash: hash32ToBytes(s.TASK),
    attestor: s.attestor.address,
    sessionKey: ZERO_ADDRESS,
    amount: s.AMOUNT,
    expiresAt: 0n,
    ttlSeconds: s.TTL_SECONDS,
    ...other,
  });

/** A ledger on which the generated clients registered a merchant and created an escrow. */
const pendingLedger = async (sessionKey: Address = ZERO_ADDRESS): Promise<TestLedger> => {
  const ledger = s.initializedLedger();
  ledger.do([await register()], [s.merchant]);
  ledger.do([await create({ sessionKey })], [s.agent]);
  return ledger;
};

const archive = async (ledger: TestLedger): Promise<Instruction> =>
  settlement(ledger, "archive_escrow", { lastBytes: ledger.account(s.escrow).data });

describe("a client that Codama generates from the IDLs, with its defaults", () => {
  test("registers and creates", async () => {
    const ledger = await pendingLedger();
    expect(await register()).toEqual(s.registerInstruction(s.merchant, s.attestor.address));
    expect(await create()).toEqual(s.createInstruction({ attestor: s.attestor.address }));
    expect(await create({ attestor: ZERO_ADDRESS })).toEqual(s.createInstruction());
    expect(s.readEscrow(ledger).state).toBe("Pending");
    expect(tokenBalance(ledger, s.vault)).toBe(s.AMOUNT);
  });

  test("releases", async () => {
    const ledger = await pendingLedger();
    const release = await settlement(ledger, "release_escrow");
    expect(release).toEqual(s.releaseInstruction());
    ledger.do([s.attestInstruction(), release], [s.stranger]);
    expect(s.readEscrow(ledger).state).toBe("Fulfilled");
    expect(tokenBalance(ledger, s.merchantTokens)).toBe(s.AMOUNT);
  });

  test("opens, captures and closes a session, and pays back its rest and its rent", async () => {
    const ledger = await pendingLedger(s.sessionKey.address);
    const capture = await settlement(ledger, "capture");
    expect(capture).toEqual(s.captureInstruction());
    ledger.do([s.proveInstruction({ total: 2n, deliveries: 1 }), capture], [s.stranger]);
    expect(tokenBalance(ledger, s.merchantTokens)).toBe(2n);
    const agentOwner = signerOf(s.agent.address);
    const close = await settlement(ledger, "close_session", { agentOwner });
    expect(close).toEqual(s.closeInstruction());
    ledger.do([close], [s.agent]);
    ledger.time += 900n;
    const refund = await settlement(ledger, "claim_refund", { lastBytes: new Uint8Array() });
    const rent = await settlement(ledger, "return_rent", { lastBytes: new Uint8Array() });
    expect([refund, rent]).toEqual([s.refundInstruction(), s.rentInstruction()]);
    ledger.do([refund, rent], [s.stranger]);
    expect(s.readEscrow(ledger)).toMatchObject({ state: "PartiallyFulfilled", released: 2n });
    expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_000n - 2n);
  });

  test("refunds what expired", async () => {
    const ledger = await pendingLedger();
    ledger.time = s.START + BigInt(s.TTL_SECONDS);
    const refund = await settlement(ledger, "claim_refund", { lastBytes: new Uint8Array() });
    expect(refund).toEqual(s.refundInstruction());
    ledger.do([refund], [s.stranger]);
    expect(s.readEscrow(ledger).state).toBe("Refunded");
    expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_000n);
  });

  test("cancels, and archives seven days later", async () => {
    const ledger = await pendingLedger();
    const merchantWallet = signerOf(s.merchant.address);
    const cancel = await settlement(ledger, "cancel_escrow", { merchantWallet });
    expect(cancel).toEqual(s.cancelInstruction());
    ledger.do([cancel], [s.merchant]);
    expect(s.readEscrow(ledger).state).toBe("Refunded");
    ledger.time = s.START + BigInt(CUSTODY_CONSTANTS.ARCHIVE_DELAY_SECONDS);
    const archiving = await archive(ledger);
    expect(archiving).toEqual(s.archiveInstruction(ledger));
    ledger.do([archiving], [s.stranger]);
    expect(ledger.account(s.escrow).data.length).toBe(96);
  });
});
