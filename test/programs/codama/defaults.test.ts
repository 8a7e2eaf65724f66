import { expect, test } from "bun:test";
import { type AnchorIdl, rootNodeFromAnchor } from "@codama/nodes-from-anchor";
import attestor from "../../../programs/attestor.idl.json" with { type: "json" };
import custody from "../../../programs/custody.idl.json" with { type: "json" };

/** The accounts of each instruction that Codama has no default for: signers and optional ones are not counted. */
const asked = (idl: unknown) =>
  Object.fromEntries(
    rootNodeFromAnchor(idl as AnchorIdl).program.instructions.map(({ name, accounts }) => [
      name as string,
      accounts
        .filter(
          (account) =>
            account.isSigner === false &&
            account.isOptional !== true &&
            account.defaultValue === undefined,
        )
        .map((account) => account.name as string),
    ]),
  );

// An address that follows from the escrow's own fields (a seed such as escrow.mint) has a default only in Anchor's
// clients, not in Codama's.
const PAID_TO_MERCHANT = ["escrow", "vault", "merchant", "merchantTokenAccount"];

test("custody: a generated client asks only for addresses that cannot be derived without reading the escrow", () => {
  expect(asked(custody)).toEqual({
    initializeCustody: ["attestorProgram"],
    createEscrow: ["merchantWallet", "mint"],
    capture: PAID_TO_MERCHANT,
    releaseEscrow: PAID_TO_MERCHANT,
    cancelEscrow: ["escrow"],
    closeSession: ["escrow"],
    claimRefund: ["escrow", "vault"],
    returnRent: ["escrow", "rentPayer"],
    archiveEscrow: ["escrow", "rentPayer"],
  });
});

test("attestor: a generated client asks for a merchant's account only when the wallet is not among the accounts", () => {
  expect(asked(attestor)).toEqual({
    initializeRegistry: ["custodyProgram"],
    registerMerchant: [],
    rotateAttestor: [],
    setMerchantStatus: ["merchant"],
    slashMerchant: ["merchant"],
    proposeAdmin: [],
    acceptAdmin: [],
    recordDelivery: ["merchant"],
  });
});
