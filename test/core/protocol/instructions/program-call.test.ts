import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Address, ZERO_ADDRESS, addressToBytes } from "../../../../core/domain/address.ts";
import {
  type CustodyInstructionName,
  readInstruction,
} from "../../../../core/protocol/instructions/program-call.ts";
import {
  proposeAdminInstruction,
  registerMerchantInstruction,
  rotateAttestorInstruction,
  setMerchantStatusInstruction,
  slashMerchantInstruction,
} from "../../../../core/protocol/instructions/attestor-instructions.ts";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import * as custody from "../../../../core/protocol/instructions/custody-instructions.ts";
import { associatedToken } from "../../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import {
  anyAddress,
  anyHash32,
  anyU64,
  bytesOfLength,
} from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

const anyArguments = fc.record({
  taskHash: anyHash32,
  sessionKey: fc.option(anyAddress, { nil: undefined }),
  amount: anyU64,
  ttlSeconds: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  expiresAt: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  attestor: fc.option(anyAddress, { nil: undefined }),
  lastBytes: bytesOfLength(416),
  tail: fc.uint8Array({ maxLength: 420 }),
  name: fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
});

type Arguments = typeof anyArguments extends fc.Arbitrary<infer T> ? T : never;

type Meant = { readonly name: string; readonly args: object };

/** Instructions of both programs as core builds them, and what each is read back as. */
const built = (
  input: Arguments,
  account: Address,
): ReadonlyArray<readonly [Meant, Instruction]> => {
  const { taskHash, sessionKey, amount, ttlSeconds, expiresAt, attestor, lastBytes, tail, name } =
    input;
  const [payer, agentOwner, merchant, mint, admin] = [account, account, account, account, account];
  const life = { ttlSeconds, expiresAt };
  const terms = { payer, agentOwner, merchant, mint, taskHash, sessionKey, amount, attestor };
  const target = { escrow: account, mint, rentPayer: account };
  const payment = { ...target, merchant };
  const who = { payer, upgradeAuthority: account };
  const d = LOCAL_DEPLOYMENT;
  const { bump } = associatedToken(account, account);
  const key = attestor ?? ZERO_ADDRESS;
  const meant = (of: CustodyInstructionName, args: object): Meant => ({ name: of, args });
  return [
    [
      meant("initialize_custody", { genesisHash: hash32FromBytes(addressToBytes(who.payer)) }),
      custody.initializeCustodyInstruction(d, { ...who, genesisHash: who.payer }),
    ],
    [
      meant("create_escrow", {
        taskHash,
        attestor: key,
        sessionKey: sessionKey ?? ZERO_ADDRESS,
        amount,
        ...life,
      }),
      custody.createEscrowInstruction(d, { ...terms, ...life }),
    ],
    [meant("capture", { merchantTokenBump: bump }), custody.captureInstruction(d, payment)],
    [
      meant("release_escrow", { merchantTokenBump: bump }),
      custody.releaseEscrowInstruction(d, payment),
    ],
    [
      meant("claim_refund", { agentTokenBump: bump, lastBytes: new Uint8Array() }),
      custody.claimRefundInstruction(d, { ...target, agentOwner }),
    ],
    [
      meant("claim_refund", { agentTokenBump: 0, lastBytes: tail }),
      custody.claimRefundInstruction(d, { ...target, agentOwner: null, lastBytes: tail }),
    ],
    [meant("cancel_escrow", {}), custody.cancelEscrowInstruction(d, payment)],
    [meant("close_session", {}), custody.closeSessionInstruction(d, { ...target, agentOwner })],
    [
      meant("return_rent", { lastBytes: tail }),
      custody.returnRentInstruction(d, { ...target, lastBytes: tail }),
    ],
    [
      meant("archive_escrow", { lastBytes }),
      custody.archiveEscrowInstruction(d, { ...target, lastBytes }),
    ],
    [
      { name: "register_merchant", args: { attestor: key, name } },
      registerMerchantInstruction(d, { payer, merchant, attestor: key, name }),
    ],
    [
      { name: "rotate_attestor", args: { attestor: key, revoke: true } },
      rotateAttestorInstruction(d, { merchant, attestor: key, revoke: true }),
    ],
    [
      { name: "set_merchant_status", args: { status: 1 } },
      setMerchantStatusInstruction(d, { admin, merchant, status: "Suspended" }),
    ],
    [
      { name: "slash_merchant", args: { points: ttlSeconds } },
      slashMerchantInstruction(d, { admin, merchant, points: ttlSeconds }),
    ],
    [
      { name: "propose_admin", args: { admin: key } },
      proposeAdminInstruction(d, { admin, proposed: key }),
    ],
  ];
};

const read = (instruction: Instruction, data: Uint8Array) =>
  readInstruction({ ...instruction, data }, LOCAL_DEPLOYMENT);

test("every instruction is read back from its data, and not from shorter or longer data", () => {
  fc.assert(
    fc.property(anyArguments, anyAddress, fc.nat({ max: 7 }), (input, account, at) => {
      for (const [meant, instruction] of built(input, account)) {
        const { data } = instruction;
        expect(read(instruction, data)).toMatchObject(meant);
        expect(read(instruction, data.slice(0, -1))).toBeUndefined();
        expect(read(instruction, Uint8Array.from([...data, 0]))).toBeUndefined();
        expect(read(instruction, data.with(at, (data[at] ?? 0) ^ 1))).toBeUndefined();
        expect(read({ ...instruction, programAddress: account }, data)).toBeUndefined();
      }
    }),
    runs(50),
  );
});

test("accounts go by the IDL's names; one that is not shown is undefined", () => {
  const [input] = fc.sample(anyArguments, 1);
  if (input === undefined) throw new Error("no sample");
  const create = built(input, ZERO_ADDRESS).find(([{ name }]) => name === "create_escrow")?.[1];
  if (create === undefined) throw new Error("no create_escrow");
  const call = readInstruction(create, LOCAL_DEPLOYMENT);
  if (call?.name !== "create_escrow") throw new Error("no create_escrow");
  expect(call.at("escrow")).toBe(create.accounts[5]?.address as Address);
  const bare = readInstruction(
    { ...create, accounts: create.accounts.slice(0, 5) },
    LOCAL_DEPLOYMENT,
  );
  if (bare?.name !== "create_escrow") throw new Error("no create_escrow");
  expect(bare.at("escrow")).toBeUndefined();
});

test("random data is no instruction, and never throws", () => {
  const programs = [LOCAL_DEPLOYMENT.custodyProgram, LOCAL_DEPLOYMENT.attestorProgram];
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 80 }),
      fc.constantFrom(...programs),
      (data, programAddress) => {
        const instruction = { programAddress, accounts: [], data };
        expect(readInstruction(instruction, LOCAL_DEPLOYMENT)).toBeUndefined();
      },
    ),
    runs(200),
  );
});
