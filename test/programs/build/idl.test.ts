import { expect, test } from "bun:test";
import type { Address } from "../../../core/domain/address.ts";
import { hash32ToBytes } from "../../../core/domain/hash32.ts";
import { AccountRole, type Instruction } from "../../../core/domain/ledger/instruction.ts";
import {
  acceptAdminInstruction,
  initializeRegistryInstruction,
  proposeAdminInstruction,
  rotateAttestorInstruction,
  setMerchantStatusInstruction,
  slashMerchantInstruction,
} from "../../../core/protocol/instructions/attestor-instructions.ts";
import { initializeCustodyInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import {
  accountDiscriminator,
  eventDiscriminator,
  instructionDiscriminator,
} from "../../doubles/discriminator.ts";
import { PROGRAM_ERRORS } from "../../../core/protocol/instructions/program-errors.ts";
import attestorJson from "../../../programs/attestor.idl.json";
import custodyJson from "../../../programs/custody.idl.json";
import { type Idl, type IdlType, parseIdl } from "../../../programs/idl.ts";
import { idlAddresses } from "../fixture/idl-addresses.ts";
import * as s from "../fixture/settlement.ts";

const custody = parseIdl(JSON.stringify(custodyJson));
const attestor = parseIdl(JSON.stringify(attestorJson));

const admin = s.upgradeAuthority.address;
const merchant = s.merchant.address;
const by = { payer: admin, upgradeAuthority: admin };

/** Every instruction that core can build, with the IDL that describes it. */
const built: ReadonlyArray<readonly [Idl, string, Instruction]> = [
  [
    custody,
    "initialize_custody",
    initializeCustodyInstruction(s.deployment, { ...by, genesisHash: s.genesisHash }),
  ],
  [custody, "create_escrow", s.createInstruction()],
  [custody, "release_escrow", s.releaseInstruction()],
  [custody, "capture", s.captureInstruction()],
  [custody, "claim_refund", s.refundInstruction()],
  [custody, "cancel_escrow", s.cancelInstruction()],
  [custody, "close_session", s.closeInstruction()],
  [custody, "return_rent", s.rentInstruction()],
  [custody, "archive_escrow", s.archiveInstruction(s.escrowLedger())],
  [
    attestor,
    "initialize_registry",
    initializeRegistryInstruction(s.deployment, { ...by, settlementMint: s.mint }),
  ],
  [attestor, "register_merchant", s.registerInstruction(s.merchant, s.attestor.address)],
  [
    attestor,
    "rotate_attestor",
    rotateAttestorInstruction(s.deployment, { merchant, attestor: s.stranger.address }),
  ],
  [
    attestor,
    "set_merchant_status",
    setMerchantStatusInstruction(s.deployment, { admin, merchant, status: "Suspended" }),
  ],
  [
    attestor,
    "slash_merchant",
    slashMerchantInstruction(s.deployment, { admin, merchant, points: 1 }),
  ],
  [
    attestor,
    "propose_admin",
    proposeAdminInstruction(s.deployment, { admin, proposed: s.stranger.address }),
  ],
  [attestor, "accept_admin", acceptAdminInstruction(s.deployment, { proposed: admin })],
];

/** Bytes of one argument; a string is the merchant's name of the fixture. */
const argumentBytes = (type: IdlType): number => {
  if (type === "u8" || type === "bool") return 1;
  if (type === "u32") return 4;
  if (type === "u64" || type === "i64") return 8;
  if (type === "pubkey") return 32;
  if (type === "bytes") return 4;
  if (type === "string") return 4 + "Weather Data Ltd".length;
  return "array" in type ? type.array[1] : 1;
};

test.each(built)(
  "%# core builds the instruction as the IDL describes it",
  (idl, name, instruction) => {
    const described = idl.instructions.find((each) => each.name === name);
    expect(instruction.programAddress as string).toBe(idl.address);
    expect(instruction.data.slice(0, 8)).toEqual(Uint8Array.from(described?.discriminator ?? []));
    const roles = described?.accounts.map(({ writable, signer, optional, pda }) =>
      // An account that is left out, which no derived one is here: the program's own id stands for it, and is not
      // writable.
      optional === true && pda === undefined
        ? AccountRole.readonly
        : signer === true
          ? writable === true
            ? AccountRole.writableSigner
            : AccountRole.readonlySigner
          : writable === true
            ? AccountRole.writable
            : AccountRole.readonly,
    );
    expect<ReadonlyArray<number> | undefined>(instruction.accounts.map(({ role }) => role)).toEqual(
      roles,
    );
    described?.accounts.forEach(({ address, optional, pda }, i) => {
      if (optional === true && pda === undefined)
        expect(instruction.accounts[i]?.address).toBe(idl.address as Address);
      if (address !== undefined) expect(instruction.accounts[i]?.address).toBe(address as Address);
    });
    const size = described?.args.reduce((sum, { type }) => sum + argumentBytes(type), 8);
    expect(instruction.data.length).toBe(size ?? 0);
  },
);

/** The address in a field of an account, as a seed such as `escrow.mint` names it. */
const escrowField = (_: Address, account: string, field: string): Address => {
  const { agentOwner, merchant, mint, rentPayer } = s.readEscrow(s.escrowLedger());
  const found = { agent_owner: agentOwner, merchant, mint, rent_payer: rentPayer }[field];
  if (account !== "Escrow" || found === undefined) throw new Error(`${account} has no ${field}`);
  return found;
};

test.each(built)(
  "%# every address that the IDL has or derives is the one that core puts there",
  async (idl, name, instruction) => {
    const accounts = idl.instructions.find((each) => each.name === name)?.accounts ?? [];
    const chosen = accounts.flatMap(({ name, address, pda, relations }, i) => {
      const account = instruction.accounts[i];
      const says = address ?? pda ?? relations;
      return account === undefined || says !== undefined ? [] : [[name, account.address] as const];
    });
    const found = await idlAddresses(idl, name, {
      accounts: Object.fromEntries(chosen),
      args: { task_hash: hash32ToBytes(s.TASK) },
      field: escrowField,
    });
    expect(accounts.map(({ name }) => found[name]?.address)).toEqual(
      instruction.accounts.map(({ address }) => address),
    );
  },
);

test.each([
  ["custody", custodyJson],
  ["attestor", attestorJson],
] as const)("%s: every named part of the IDL has documentation", (_, idl) => {
  const parts = [
    ...idl.instructions,
    ...idl.instructions.flatMap(({ accounts, args }) => [...accounts, ...args]),
    ...idl.types,
    ...idl.constants,
  ] as ReadonlyArray<{ readonly name: string; readonly docs?: ReadonlyArray<string> }>;
  expect(parts.filter(({ docs }) => docs?.[0] === undefined).map(({ name }) => name)).toEqual([]);
});

test("core builds every instruction except the one that only custody may send", () => {
  const described = [custody, attestor].flatMap((idl) => idl.instructions.map(({ name }) => name));
  expect(described.filter((name) => !built.some(([, each]) => each === name))).toEqual([
    "record_delivery",
  ]);
});

test.each([["custody", custody] as const, ["attestor", attestor] as const])(
  "%s: discriminators are the first eight bytes of Anchor's hashes",
  (_, idl) => {
    for (const { name, discriminator } of idl.instructions)
      expect([...instructionDiscriminator(name)]).toEqual([...discriminator]);
    for (const { name, discriminator } of idl.accounts)
      expect([...accountDiscriminator(name)]).toEqual([...discriminator]);
    for (const { name, discriminator } of idl.events)
      expect([...eventDiscriminator(name)]).toEqual([...discriminator]);
  },
);

test("core knows every custom error of both IDLs by code, name and message", () => {
  const described = [custody, attestor].flatMap((idl) =>
    idl.errors.map(({ code, name, msg }) => ({
      code,
      program: idl.metadata.name as "custody" | "attestor",
      name,
      message: msg,
    })),
  );
  expect(PROGRAM_ERRORS).toEqual(described);
  expect(custody.errors.every(({ code }) => code >= 6000 && code <= 6099)).toBe(true);
  expect(attestor.errors.every(({ code }) => code >= 6100 && code <= 6199)).toBe(true);
});

test("both IDLs stand at the addresses of the local deployment", () => {
  expect(custody.address).toBe(s.deployment.custodyProgram);
  expect(attestor.address).toBe(s.deployment.attestorProgram);
});
