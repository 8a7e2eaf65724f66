import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Address, ZERO_ADDRESS } from "../../../../core/domain/address.ts";
import {
  type CustodyInstructionData,
  decodeCustodyInstruction,
} from "../../../../core/protocol/instructions/custody-instruction-data.ts";
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
  proofHash: anyHash32,
  amount: anyU64,
  ttlSeconds: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  timestamp: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  attestor: fc.option(anyAddress, { nil: undefined }),
  lastBytes: bytesOfLength(368),
});

type Arguments = typeof anyArguments extends fc.Arbitrary<infer T> ? T : never;

/** Every custody instruction with these arguments: the instruction, and the data that core builds for it. */
const built = (
  { taskHash, proofHash, amount, ttlSeconds, timestamp, attestor, lastBytes }: Arguments,
  account: Address,
): ReadonlyArray<readonly [CustodyInstructionData, Uint8Array]> => {
  const [payer, agentOwner, merchant, mint] = [account, account, account, account];
  const terms = { payer, agentOwner, merchant, mint, taskHash, amount, ttlSeconds, attestor };
  const target = { escrow: account, mint, rentPayer: account };
  const release = { ...target, merchant, proofHash, timestamp };
  const who = { payer, upgradeAuthority: account };
  const d = LOCAL_DEPLOYMENT;
  const { bump } = associatedToken(account, account);
  return [
    [{ name: "initialize_custody" }, custody.initializeCustodyInstruction(d, who).data],
    [
      { name: "create_escrow", taskHash, attestor: attestor ?? ZERO_ADDRESS, amount, ttlSeconds },
      custody.createEscrowInstruction(d, terms).data,
    ],
    [
      { name: "release_escrow", proofHash, timestamp, merchantTokenBump: bump },
      custody.releaseEscrowInstruction(d, release).data,
    ],
    [
      {
        name: "release_partial",
        proofHash,
        timestamp,
        amount,
        merchantTokenBump: bump,
        agentTokenBump: bump,
      },
      custody.releasePartialInstruction(d, { ...release, agentOwner, amount }).data,
    ],
    [
      { name: "claim_refund", agentTokenBump: bump },
      custody.claimRefundInstruction(d, { ...target, agentOwner }).data,
    ],
    [
      { name: "cancel_escrow", agentTokenBump: bump },
      custody.cancelEscrowInstruction(d, { ...target, agentOwner, merchant }).data,
    ],
    [
      { name: "archive_escrow", lastBytes },
      custody.archiveEscrowInstruction(d, { ...target, lastBytes }).data,
    ],
  ];
};

test("every custody instruction is read back from its data, and not from shorter or longer data", () => {
  fc.assert(
    fc.property(anyArguments, anyAddress, fc.nat({ max: 7 }), (input, account, at) => {
      for (const [meant, data] of built(input, account)) {
        expect(decodeCustodyInstruction(data)).toEqual(meant);
        expect(decodeCustodyInstruction(data.slice(0, -1))).toBeUndefined();
        expect(decodeCustodyInstruction(Uint8Array.from([...data, 0]))).toBeUndefined();
        expect(decodeCustodyInstruction(data.with(at, (data[at] ?? 0) ^ 1))).toBeUndefined();
      }
    }),
    runs(50),
  );
});

test("random data is not a custody instruction, and never throws", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (data) => {
      expect(decodeCustodyInstruction(data)).toBeUndefined();
    }),
    runs(200),
  );
});
