import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Address, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { hash32ToBytes } from "../../../core/domain/hash32.ts";
import { decodeArchivedEscrowAccount } from "../../../core/protocol/accounts/archived-escrow-account.ts";
import {
  decodeAttestorRegistryAccount,
  decodeCustodyConfigAccount,
} from "../../../core/protocol/accounts/settings-accounts.ts";
import {
  decodeEscrowAccount,
  encodeEscrowAccount,
} from "../../../core/protocol/accounts/escrow-account.ts";
import {
  decodeMerchantAccount,
  encodeMerchantAccount,
} from "../../../core/protocol/accounts/merchant-account.ts";
import {
  custodyConfigAddress,
  registryAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import { ATTESTOR_INSTRUCTIONS } from "../../../core/protocol/generated/attestor.ts";
import {
  CUSTODY_CONSTANTS,
  CUSTODY_INSTRUCTIONS,
} from "../../../core/protocol/generated/custody.ts";
import {
  decodeArgs,
  encodeInstruction,
  type InstructionLayout,
} from "../../../core/protocol/instructions/instruction-layout.ts";
import { SETTLED_BY } from "../../../core/domain/escrow/escrow.ts";
import { anyEscrow } from "../../arbitraries/escrow.ts";
import { anyAddress, anyHash32, anyU64, bytesOfLength } from "../../arbitraries/ledger-values.ts";
import { anyMerchant, anyMerchantName } from "../../arbitraries/merchant.ts";
import { runs } from "../../arbitraries/runs.ts";
import * as s from "../fixture/settlement.ts";
import { generated, type Named } from "./generated-clients.ts";

type Program = keyof typeof generated;

/** A value in core's form and in the form of Codama's code. */
type Pair = { readonly core: unknown; readonly codama: unknown };
const same = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<Pair> =>
  arbitrary.map((value) => ({ core: value, codama: value }));

type Argument = InstructionLayout["args"][string];

const VALUES: Readonly<Record<Argument["type"], (size: number) => fc.Arbitrary<Pair>>> = {
  u8: () => same(fc.nat({ max: 255 })),
  u32: () => same(fc.integer({ min: 0, max: 2 ** 32 - 1 })),
  u64: () => same(anyU64),
  i64: () => same(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  bool: () => same(fc.boolean()),
  address: () => same(anyAddress),
  bytes: (size) => same(bytesOfLength(size)),
  string: () => same(anyMerchantName),
  tail: () => same(fc.uint8Array({ maxLength: 416 })),
  hash: () => anyHash32.map((hash) => ({ core: hash, codama: hash32ToBytes(hash) })),
};

const anyArgs = (name: string, layout: InstructionLayout): fc.Arbitrary<Record<string, Pair>> =>
  fc.record(
    Object.fromEntries(
      Object.entries(layout.args).map(([arg, { type, size }]) => [
        arg,
        // An enum: Codama's code knows its variants only.
        name === "set_merchant_status" ? same(fc.nat({ max: 1 })) : VALUES[type](size),
      ]),
    ),
  );

const side = (pairs: Readonly<Record<string, Pair>>, of: keyof Pair): Record<string, unknown> =>
  Object.fromEntries(Object.entries(pairs).map(([name, pair]) => [name, pair[of]]));

const withoutDiscriminator = (fields: Named): Named =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name !== "discriminator"));

const instructions = [
  ...Object.entries(CUSTODY_INSTRUCTIONS).map((each) => ["custody", ...each] as const),
  ...Object.entries(ATTESTOR_INSTRUCTIONS).map((each) => ["attestor", ...each] as const),
] as ReadonlyArray<readonly [Program, string, InstructionLayout]>;

test.each(instructions)(
  "%s %s: the same bytes from both, read by both",
  (program, name, layout) => {
    const { encode, decode } = generated[program].instructionData(name);
    const accounts = Object.fromEntries(
      Object.keys(layout.accounts).map((account) => [account, ZERO_ADDRESS]),
    );
    fc.assert(
      fc.property(anyArgs(name, layout), (pairs) => {
        const { data } = encodeInstruction(
          s.deployment.custodyProgram,
          layout,
          accounts as Record<string, Address>,
          side(pairs, "core") as never,
        );
        const bytes = Uint8Array.from(encode(side(pairs, "codama")));
        expect<Uint8Array>(bytes).toEqual(data);
        expect(withoutDiscriminator(decode(data))).toEqual(side(pairs, "codama"));
        // Core does not read texts back.
        if (name !== "register_merchant")
          expect<Record<string, unknown>>(decodeArgs(layout, bytes)).toEqual(side(pairs, "core"));
      }),
      runs(20),
    );
  },
);

const zeros = (length: number) => new Uint8Array(length);

/** Checks that Codama's code decodes an account's bytes to all of core's values, and encodes them to the same bytes. */
const expectRead = (program: Program, name: string, data: Uint8Array, expected: Named): void => {
  const codec = generated[program].account(name);
  const decoded = codec.decode(data);
  expect(withoutDiscriminator(decoded)).toEqual(expected);
  expect<Uint8Array>(Uint8Array.from(codec.encode(decoded))).toEqual(data);
};

test("Escrow: Codama's code decodes and encodes the same as core", () => {
  const states = generated.custody.variants("EscrowState");
  fc.assert(
    fc.property(anyEscrow(s.deployment), (escrow) => {
      const data = encodeEscrowAccount(escrow);
      const { attestation } = escrow;
      const settledBy = SETTLED_BY.indexOf(escrow.settledBy);
      const decoded = generated.custody.account("Escrow").decode(data);
      expect(states[decoded["state"] as number]).toBe(escrow.state);
      expectRead("custody", "Escrow", data, {
        version: CUSTODY_CONSTANTS.ACCOUNT_VERSION,
        bump: escrow.bump,
        state: decoded["state"],
        vaultBump: escrow.vaultBump,
        deliveries: escrow.deliveries,
        agentOwner: escrow.agentOwner,
        merchant: escrow.merchant,
        mint: escrow.mint,
        rentPayer: escrow.rentPayer,
        taskHash: hash32ToBytes(escrow.taskHash),
        amount: escrow.amount,
        released: escrow.released,
        createdAt: escrow.createdAt,
        expiresAt: escrow.expiresAt,
        settledAt: escrow.settledAt ?? 0n,
        proofHash: attestation === null ? zeros(32) : hash32ToBytes(attestation.proofHash),
        attestor: escrow.attestor,
        attestedAt: attestation?.attestedAt ?? 0n,
        attestationSignature:
          attestation === null ? zeros(64) : decodeBase64(attestation.signature),
        createdSeq: escrow.createdSeq,
        settledSeq: escrow.settledSeq ?? 0n,
        sessionKey: escrow.sessionKey ?? ZERO_ADDRESS,
        settledBy,
        reserved: zeros(7),
        closesAt: escrow.closesAt ?? 0n,
      });
      const account = { address: escrow.address, owner: s.deployment.custodyProgram, data };
      expect(decodeEscrowAccount(account, s.deployment)).toEqual({ value: escrow });
    }),
    runs(20),
  );
});

test("Merchant: Codama's code decodes and encodes the same as core", () => {
  const statuses = generated.attestor.variants("MerchantStatus");
  fc.assert(
    fc.property(anyMerchant(s.deployment), (merchant) => {
      const data = encodeMerchantAccount(merchant);
      const decoded = generated.attestor.account("Merchant").decode(data);
      expect(statuses[decoded["status"] as number]).toBe(merchant.status);
      const name = new TextEncoder().encode(merchant.name);
      const padded = zeros(32);
      padded.set(name);
      const { address, wallet, ...fields } = merchant;
      expectRead("attestor", "Merchant", data, {
        ...fields,
        version: CUSTODY_CONSTANTS.ACCOUNT_VERSION,
        status: decoded["status"],
        nameLen: name.length,
        reserved: zeros(4),
        merchant: wallet,
        previousAttestor: merchant.previousAttestor ?? ZERO_ADDRESS,
        name: padded,
      });
      const account = { address, owner: s.deployment.attestorProgram, data };
      expect(decodeMerchantAccount(account, s.deployment)).toEqual({ value: merchant });
    }),
    runs(20),
  );
});

test("CustodyConfig, Registry and ArchivedEscrow, as the programs wrote them", () => {
  const ledger = s.escrowLedger();
  ledger.do([s.cancelInstruction()], [s.merchant]);
  ledger.time = s.START + BigInt(CUSTODY_CONSTANTS.ARCHIVE_DELAY_SECONDS);
  ledger.do([s.archiveInstruction(ledger)], [s.stranger]);

  const config = ledger.account(custodyConfigAddress(s.deployment).address);
  const custody = decodeCustodyConfigAccount(config, s.deployment);
  if ("fault" in custody) throw new Error(custody.fault);
  const { domain, count, frontier, ...named } = custody.value;
  expectRead("custody", "CustodyConfig", config.data, {
    ...named,
    version: CUSTODY_CONSTANTS.ACCOUNT_VERSION,
    reserved: zeros(6),
    domain: hash32ToBytes(domain),
    count: count + 1n,
    frontier: Array.from({ length: 40 }, (_, at) => frontier.slice(32 * at, 32 * (at + 1))),
  });

  const registry = ledger.account(registryAddress(s.deployment).address);
  const attestor = decodeAttestorRegistryAccount(registry, s.deployment);
  if ("fault" in attestor) throw new Error(attestor.fault);
  expectRead("attestor", "Registry", registry.data, {
    ...attestor.value,
    version: CUSTODY_CONSTANTS.ACCOUNT_VERSION,
    reserved: zeros(6),
    proposedAdmin: attestor.value.proposedAdmin ?? ZERO_ADDRESS,
  });

  const tombstone = ledger.account(s.escrow);
  const archived = decodeArchivedEscrowAccount(tombstone, s.deployment);
  if ("fault" in archived) throw new Error(archived.fault);
  const decoded = generated.custody.account("ArchivedEscrow").decode(tombstone.data);
  const states = generated.custody.variants("EscrowState");
  expect(states[decoded["state"] as number]).toBe(archived.value.state);
  expectRead("custody", "ArchivedEscrow", tombstone.data, {
    ...archived.value,
    state: decoded["state"],
    version: CUSTODY_CONSTANTS.ACCOUNT_VERSION,
    reserved: zeros(6),
    pendingHash: hash32ToBytes(archived.value.pendingHash),
    lastHash: hash32ToBytes(archived.value.lastHash),
  });
});
