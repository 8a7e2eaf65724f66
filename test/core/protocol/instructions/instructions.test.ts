import { describe, expect, test } from "bun:test";
import {
  addCodecSizePrefix,
  fixCodecSize,
  getAddressCodec,
  getAddressEncoder,
  getBase16Codec,
  getI64Codec,
  getProgramDerivedAddress,
  getStructCodec,
  getU32Codec,
  getU64Codec,
  getU8Codec,
  getUtf8Codec,
} from "@solana/kit";
import fc from "fast-check";
import { address } from "../../../../core/domain/address.ts";
import { AccountRole, type Instruction } from "../../../../core/domain/ledger/instruction.ts";
import { MERCHANT_STATUSES } from "../../../../core/domain/merchant/merchant.ts";
import * as attestor from "../../../../core/protocol/instructions/attestor-instructions.ts";
import * as custody from "../../../../core/protocol/instructions/custody-instructions.ts";
import attestorIdl from "../../../../programs/attestor.idl.json" with { type: "json" };
import custodyIdl from "../../../../programs/custody.idl.json" with { type: "json" };
import {
  anyAddress,
  anyDeployment,
  anyHash32,
  anyU64,
} from "../../../arbitraries/ledger-values.ts";
import { anyMerchantName } from "../../../arbitraries/merchant.ts";
import { runs } from "../../../arbitraries/runs.ts";

const TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const ASSOCIATED_TOKEN = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
const LOADER = "BPFLoaderUpgradeab1e11111111111111111111111";

/** One of everything that any instruction takes. */
const anyInput = fc.record({
  deployment: anyDeployment,
  payer: anyAddress,
  upgradeAuthority: anyAddress,
  admin: anyAddress,
  agentOwner: anyAddress,
  merchant: anyAddress,
  mint: anyAddress,
  settlementMint: anyAddress,
  rentPayer: anyAddress,
  attestor: anyAddress,
  escrow: anyAddress,
  merchantTokenAccount: fc.option(anyAddress, { nil: undefined }),
  agentTokenAccount: fc.option(anyAddress, { nil: undefined }),
  taskHash: anyHash32,
  proofHash: anyHash32,
  amount: anyU64,
  ttlSeconds: fc.integer({ min: 1, max: 604_800 }),
  timestamp: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  name: anyMerchantName,
  status: fc.constantFrom(...MERCHANT_STATUSES),
  points: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
});
type Input = typeof anyInput extends fc.Arbitrary<infer T> ? T : never;

const hash = fixCodecSize(getBase16Codec(), 32);
/** The arguments behind the discriminator, as kit's codecs write them. */
const ARGUMENTS: Readonly<Record<string, (input: Input) => ReadonlyUint8Array>> = {
  initialize_custody: () => new Uint8Array(0),
  create_escrow: ({ taskHash, amount, ttlSeconds }) =>
    getStructCodec([
      ["taskHash", hash],
      ["amount", getU64Codec()],
      ["ttlSeconds", getU32Codec()],
    ]).encode({ taskHash, amount, ttlSeconds }),
  release_escrow: ({ proofHash, timestamp }) =>
    getStructCodec([
      ["proofHash", hash],
      ["timestamp", getI64Codec()],
    ]).encode({ proofHash, timestamp }),
  release_partial: ({ proofHash, timestamp, amount }) =>
    getStructCodec([
      ["proofHash", hash],
      ["timestamp", getI64Codec()],
      ["amount", getU64Codec()],
    ]).encode({ proofHash, timestamp, amount }),
  claim_refund: () => new Uint8Array(0),
  initialize_registry: ({ settlementMint }) => getAddressCodec().encode(settlementMint),
  register_merchant: (input) =>
    getStructCodec([
      ["attestor", getAddressCodec()],
      ["name", addCodecSizePrefix(getUtf8Codec(), getU32Codec())],
    ]).encode({ attestor: input.attestor, name: input.name }),
  rotate_attestor: (input) => getAddressCodec().encode(input.attestor),
  set_merchant_status: ({ status }) => getU8Codec().encode(status === "Active" ? 0 : 1),
  slash_merchant: ({ points }) => getU32Codec().encode(points),
};
type ReadonlyUint8Array = ReturnType<ReturnType<typeof getU8Codec>["encode"]>;

const BUILD: Readonly<Record<string, (input: Input) => Instruction>> = {
  initialize_custody: (i) => custody.initializeCustodyInstruction(i.deployment, i),
  create_escrow: (i) => custody.createEscrowInstruction(i.deployment, i),
  release_escrow: ({ merchantTokenAccount: account, ...i }) =>
    custody.releaseEscrowInstruction(
      i.deployment,
      account === undefined ? i : { ...i, merchantTokenAccount: account },
    ),
  release_partial: ({ merchantTokenAccount, agentTokenAccount, ...i }) =>
    custody.releasePartialInstruction(i.deployment, {
      ...i,
      ...(merchantTokenAccount === undefined ? {} : { merchantTokenAccount }),
      ...(agentTokenAccount === undefined ? {} : { agentTokenAccount }),
    }),
  claim_refund: ({ agentTokenAccount: account, ...i }) =>
    custody.claimRefundInstruction(
      i.deployment,
      account === undefined ? i : { ...i, agentTokenAccount: account },
    ),
  initialize_registry: (i) => attestor.initializeRegistryInstruction(i.deployment, i),
  register_merchant: (i) => attestor.registerMerchantInstruction(i.deployment, i),
  rotate_attestor: (i) => attestor.rotateAttestorInstruction(i.deployment, i),
  set_merchant_status: (i) => attestor.setMerchantStatusInstruction(i.deployment, i),
  slash_merchant: (i) => attestor.slashMerchantInstruction(i.deployment, i),
};

const derive = async (program: string, ...seeds: ReadonlyArray<string>) => {
  const encoded = seeds.map((seed) =>
    seed.length < 32 ? new TextEncoder().encode(seed) : getAddressEncoder().encode(address(seed)),
  );
  const programAddress = address(program);
  const [derived] = await getProgramDerivedAddress({ programAddress, seeds: encoded });
  return derived as string;
};

const associated = (owner: string, mint: string) => derive(ASSOCIATED_TOKEN, owner, TOKEN, mint);

/** Which address each account of the IDL must have, by kit's derivations. */
const addressesOf = async (
  name: string,
  input: Input,
): Promise<Readonly<Record<string, string>>> => {
  const { custodyProgram, attestorProgram } = input.deployment;
  const isCustody = custodyIdl.instructions.some((each) => each.name === name);
  const taskHash = getAddressCodec().decode(hash.encode(input.taskHash));
  const escrow =
    name === "create_escrow"
      ? await derive(custodyProgram, "escrow", input.agentOwner, taskHash)
      : input.escrow;
  const { agentTokenAccount, merchantTokenAccount } = input;
  const override = name === "create_escrow" ? undefined : agentTokenAccount;
  return {
    payer: input.payer,
    upgrade_authority: input.upgradeAuthority,
    admin: input.admin,
    agent_owner: input.agentOwner,
    merchant_wallet: input.merchant,
    mint: input.mint,
    rent_payer: input.rentPayer,
    escrow,
    merchant: await derive(attestorProgram, "merchant", input.merchant),
    vault: await associated(escrow, input.mint),
    merchant_token_account: merchantTokenAccount ?? (await associated(input.merchant, input.mint)),
    agent_token_account: override ?? (await associated(input.agentOwner, input.mint)),
    config: await derive(custodyProgram, "config"),
    registry: await derive(attestorProgram, "registry"),
    program_data: await derive(LOADER, isCustody ? custodyProgram : attestorProgram),
    attestor_program: attestorProgram,
    custody_program: custodyProgram,
    instructions_sysvar: "Sysvar1nstructions1111111111111111111111111",
    token_program: TOKEN,
    associated_token_program: ASSOCIATED_TOKEN,
    system_program: "11111111111111111111111111111111",
  };
};

type Described = {
  readonly name: string;
  readonly discriminator: ReadonlyArray<number>;
  readonly accounts: ReadonlyArray<{
    readonly name: string;
    readonly writable?: boolean;
    readonly signer?: boolean;
  }>;
};

const roleOf = ({ writable, signer }: Described["accounts"][number]): number =>
  signer === true
    ? writable === true
      ? AccountRole.writableSigner
      : AccountRole.readonlySigner
    : writable === true
      ? AccountRole.writable
      : AccountRole.readonly;

const described: ReadonlyArray<Described> = [
  ...custodyIdl.instructions,
  ...attestorIdl.instructions,
].filter(({ name }) => name !== "verify_attestation");

describe("instructions", () => {
  test("the IDLs describe every instruction that is built here", () => {
    expect(described.map(({ name }) => name).sort()).toEqual(Object.keys(BUILD).sort());
  });

  test.each(described.map((each) => [each.name, each] as const))(
    "%s is what the IDL says, from any input",
    async (name, idl) => {
      await fc.assert(
        fc.asyncProperty(anyInput, async (input) => {
          const instruction = BUILD[name]?.(input);
          const addresses = await addressesOf(name, input);
          const isCustody = custodyIdl.instructions.some((each) => each.name === name);
          const { custodyProgram, attestorProgram } = input.deployment;
          expect(instruction?.programAddress).toBe(isCustody ? custodyProgram : attestorProgram);
          expect(instruction?.accounts as unknown).toEqual(
            idl.accounts.map((account) => ({
              address: addresses[account.name],
              role: roleOf(account),
            })),
          );
          const expected = [...idl.discriminator, ...(ARGUMENTS[name]?.(input) ?? [])];
          expect(Array.from(instruction?.data ?? [])).toEqual(expected);
        }),
        runs(20),
      );
    },
  );

  test("changing an instruction's data changes no later instruction", () => {
    const [input] = fc.sample(anyInput, { numRuns: 1, seed: 3 });
    if (input === undefined) throw new Error("no sample");
    for (const build of Object.values(BUILD)) {
      const first = build(input);
      const data = first.data.slice();
      first.data.fill(0xee);
      expect(build(input).data).toEqual(data);
    }
  });
});
