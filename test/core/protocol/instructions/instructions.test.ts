import { describe, expect, test } from "bun:test";
import {
  addCodecSizePrefix,
  fixCodecSize,
  getAddressCodec,
  getAddressEncoder,
  getBase16Codec,
  getBooleanCodec,
  getBytesCodec,
  getI64Codec,
  getProgramDerivedAddress,
  getStructCodec,
  getU32Codec,
  getU64Codec,
  getU8Codec,
  getUtf8Codec,
} from "@solana/kit";
import fc from "fast-check";
import { address, addressToBytes } from "../../../../core/domain/address.ts";
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
  bytesOfLength,
} from "../../../arbitraries/ledger-values.ts";
import { anyMerchantName } from "../../../arbitraries/merchant.ts";
import { runs } from "../../../arbitraries/runs.ts";

const TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const ASSOCIATED_TOKEN = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
const LOADER = "BPFLoaderUpgradeab1e11111111111111111111111";

/** One value for every input of every instruction. */
const anyInput = fc.record({
  deployment: anyDeployment,
  payer: anyAddress,
  genesisHash: anyAddress,
  upgradeAuthority: anyAddress,
  admin: anyAddress,
  agentOwner: anyAddress,
  sessionKey: fc.option(anyAddress),
  merchant: anyAddress,
  mint: anyAddress,
  settlementMint: anyAddress,
  rentPayer: anyAddress,
  attestor: anyAddress,
  revoke: fc.boolean(),
  proposed: anyAddress,
  escrow: anyAddress,
  merchantFallbackAccount: fc.option(anyAddress, { nil: undefined }),
  agentFallbackAccount: fc.option(anyAddress, { nil: undefined }),
  lastBytes: bytesOfLength(416),
  taskHash: anyHash32,
  amount: anyU64,
  ttlSeconds: fc.integer({ min: 1, max: 604_800 }),
  expiresAt: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { nil: undefined }),
  name: anyMerchantName,
  status: fc.constantFrom(...MERCHANT_STATUSES),
  points: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
});
/** Bumps of the payees' associated accounts. */
type Bumps = { readonly merchantBump: number; readonly agentBump: number };
type Input = typeof anyInput extends fc.Arbitrary<infer T> ? T : never;

const hash = fixCodecSize(getBase16Codec(), 32);
/** Bytes behind their own length. */
const tailCodec = addCodecSizePrefix(getBytesCodec(), getU32Codec());
/** The arguments after the discriminator, as kit's codecs write them. */
const ARGUMENTS: Readonly<Record<string, (input: Input, bumps: Bumps) => ReadonlyUint8Array>> = {
  initialize_custody: (i) => Uint8Array.from(addressToBytes(i.genesisHash)),
  create_escrow: ({ taskHash, attestor, sessionKey, amount, expiresAt, ttlSeconds }) =>
    getStructCodec([
      ["taskHash", hash],
      ["attestor", getAddressCodec()],
      ["sessionKey", getAddressCodec()],
      ["amount", getU64Codec()],
      ["expiresAt", getI64Codec()],
      ["ttlSeconds", getU32Codec()],
    ]).encode({
      taskHash,
      attestor,
      sessionKey: sessionKey ?? address("11111111111111111111111111111111"),
      amount,
      expiresAt: expiresAt ?? 0n,
      ttlSeconds,
    }),
  capture: (_, { merchantBump }) => getU8Codec().encode(merchantBump),
  release_escrow: (_, { merchantBump }) => getU8Codec().encode(merchantBump),
  cancel_escrow: () => new Uint8Array(0),
  close_session: () => new Uint8Array(0),
  claim_refund: ({ lastBytes }, { agentBump }) =>
    getStructCodec([
      ["agentBump", getU8Codec()],
      ["lastBytes", tailCodec],
    ]).encode({ agentBump, lastBytes }),
  return_rent: ({ lastBytes }) => tailCodec.encode(lastBytes),
  archive_escrow: ({ lastBytes }) => fixCodecSize(getBytesCodec(), 416).encode(lastBytes),
  initialize_registry: ({ settlementMint }) => getAddressCodec().encode(settlementMint),
  register_merchant: (input) =>
    getStructCodec([
      ["attestor", getAddressCodec()],
      ["name", addCodecSizePrefix(getUtf8Codec(), getU32Codec())],
    ]).encode({ attestor: input.attestor, name: input.name }),
  rotate_attestor: ({ attestor, revoke }) =>
    getStructCodec([
      ["attestor", getAddressCodec()],
      ["revoke", getBooleanCodec()],
    ]).encode({ attestor, revoke }),
  propose_admin: ({ proposed }) => getAddressCodec().encode(proposed),
  accept_admin: () => new Uint8Array(0),
  set_merchant_status: ({ status }) => getU8Codec().encode(status === "Active" ? 0 : 1),
  slash_merchant: ({ points }) => getU32Codec().encode(points),
};
type ReadonlyUint8Array = ReturnType<ReturnType<typeof getU8Codec>["encode"]>;

const BUILD: Readonly<Record<string, (input: Input) => Instruction>> = {
  initialize_custody: (i) => custody.initializeCustodyInstruction(i.deployment, i),
  create_escrow: (i) => custody.createEscrowInstruction(i.deployment, i),
  release_escrow: (i) => custody.releaseEscrowInstruction(i.deployment, i),
  capture: (i) => custody.captureInstruction(i.deployment, i),
  close_session: (i) => custody.closeSessionInstruction(i.deployment, i),
  return_rent: (i) => custody.returnRentInstruction(i.deployment, i),
  claim_refund: (i) => custody.claimRefundInstruction(i.deployment, i),
  cancel_escrow: (i) => custody.cancelEscrowInstruction(i.deployment, i),
  archive_escrow: (i) => custody.archiveEscrowInstruction(i.deployment, i),
  initialize_registry: (i) => attestor.initializeRegistryInstruction(i.deployment, i),
  register_merchant: (i) => attestor.registerMerchantInstruction(i.deployment, i),
  rotate_attestor: (i) => attestor.rotateAttestorInstruction(i.deployment, i),
  set_merchant_status: (i) => attestor.setMerchantStatusInstruction(i.deployment, i),
  slash_merchant: (i) => attestor.slashMerchantInstruction(i.deployment, i),
  propose_admin: (i) => attestor.proposeAdminInstruction(i.deployment, i),
  accept_admin: (i) => attestor.acceptAdminInstruction(i.deployment, i),
};

const deriveWithBump = async (program: string, ...seeds: ReadonlyArray<string>) => {
  const encoded = seeds.map((seed) =>
    seed.length < 32 ? new TextEncoder().encode(seed) : getAddressEncoder().encode(address(seed)),
  );
  const programAddress = address(program);
  const [derived, bump] = await getProgramDerivedAddress({ programAddress, seeds: encoded });
  return { derived: derived as string, bump: bump as number };
};
const derive = async (program: string, ...seeds: ReadonlyArray<string>) =>
  (await deriveWithBump(program, ...seeds)).derived;

const associated = (owner: string, mint: string) => derive(ASSOCIATED_TOKEN, owner, TOKEN, mint);
/** The bumps of the payees' associated accounts, by kit's derivation. */
const bumpsOf = async ({ merchant, agentOwner, mint }: Input): Promise<Bumps> => {
  const bumpOf = async (owner: string) =>
    (await deriveWithBump(ASSOCIATED_TOKEN, owner, TOKEN, mint)).bump;
  return { merchantBump: await bumpOf(merchant), agentBump: await bumpOf(agentOwner) };
};

/** The address that each account of the IDL must have, by kit's derivations. */
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
    merchant_token_account: await associated(input.merchant, input.mint),
    merchant_fallback_account: input.merchantFallbackAccount ?? custodyProgram,
    agent_token_account: await associated(input.agentOwner, input.mint),
    agent_fallback_account: input.agentFallbackAccount ?? custodyProgram,
    config: await derive(custodyProgram, "config"),
    custody_config: await derive(custodyProgram, "config"),
    proposed_admin: input.proposed,
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
    readonly optional?: boolean;
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
].filter(({ name }) => name !== "record_delivery");

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
          const bumps = await bumpsOf(input);
          const left: Readonly<Record<string, string | undefined>> = {
            agent_token_account: input.agentOwner,
            merchant_fallback_account: input.merchantFallbackAccount,
            agent_fallback_account: input.agentFallbackAccount,
          };
          const isCustody = custodyIdl.instructions.some((each) => each.name === name);
          const { custodyProgram, attestorProgram } = input.deployment;
          expect(instruction?.programAddress).toBe(isCustody ? custodyProgram : attestorProgram);
          expect(instruction?.accounts as unknown).toEqual(
            idl.accounts.map((account) => ({
              address: addresses[account.name],
              // The program's own id stands for an absent account, and is not writable.
              role:
                account.optional === true && left[account.name] === undefined
                  ? AccountRole.readonly
                  : roleOf(account),
            })),
          );
          const expected = [...idl.discriminator, ...(ARGUMENTS[name]?.(input, bumps) ?? [])];
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
