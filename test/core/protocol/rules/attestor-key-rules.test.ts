import { describe, expect, test } from "bun:test";
import { addressFromBytes, addressToBytes, type Address } from "../../../../core/domain/address.ts";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import { decodeWireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { attestorKeyFault } from "../../../../core/protocol/rules/attestation-rules.ts";
import { canVerifyUnder } from "../../../../core/protocol/crypto/strict-ed25519.ts";
import { signedTransaction } from "../../../../adapters/local-ledger/genesis/signed-transaction.ts";
import * as s from "../../../programs/fixture/settlement.ts";
import { rotateAttestorInstruction } from "../../../../core/protocol/instructions/attestor-instructions.ts";

const key = (hex: string): Address => addressFromBytes(Uint8Array.from(Buffer.from(hex, "hex")));

/** Every encoding of a point whose order divides eight, including those that are not canonical. */
const SMALL_ORDER = [
  "0100000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000080",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0000000000000000000000000000000000000000000000000000000000000080",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
].map(key);
/** A program derived address is not a point. */
const NO_POINT = s.escrow;

const faultOf = (instructions: ReadonlyArray<Instruction>) => {
  const decoded = decodeWireTransaction(
    signedTransaction({ payer: s.merchant, signers: [s.agent], instructions, blockhash: s.mint }),
  );
  if ("malformed" in decoded) throw new Error(decoded.malformed);
  return attestorKeyFault(decoded.value, s.deployment);
};
const rotateTo = (attestor: Address): Instruction =>
  rotateAttestorInstruction(s.deployment, { merchant: s.merchant.address, attestor });

describe("an attestor key under which no signature verifies", () => {
  test.each([...SMALL_ORDER, NO_POINT])(
    "%s is refused at registration and rotation",
    (attestor) => {
      expect(canVerifyUnder(addressToBytes(attestor))).toBe(false);
      const register = s.registerInstruction(s.merchant, attestor);
      for (const instruction of [register, rotateTo(attestor)])
        expect(faultOf([s.refundInstruction(), instruction])).toMatchObject({
          rule: "attestor_unusable",
          instructionIndex: 1,
        });
    },
  );

  test("is accepted by the program itself, except for the zero key", () => {
    const ledger = s.merchantLedger();
    for (const attestor of SMALL_ORDER.filter((each) => !/^1+$/.test(each)))
      ledger.do([rotateTo(attestor)], [s.merchant]);
  });
});

test("other keys, instructions and programs are not checked", () => {
  const register = s.registerInstruction(s.merchant, s.attestor.address);
  expect(faultOf([register, rotateTo(s.stranger.address), s.createInstruction()])).toBeUndefined();
  const [bad = s.mint] = SMALL_ORDER;
  const elsewhere = { ...rotateTo(bad), programAddress: s.deployment.custodyProgram };
  expect(faultOf([elsewhere, { ...rotateTo(bad), data: new Uint8Array(3) }])).toBeUndefined();
});
