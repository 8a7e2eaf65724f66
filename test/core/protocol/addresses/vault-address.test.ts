import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  associatedTokenAddress,
  vaultAddress,
} from "../../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { runs } from "../../../arbitraries/runs.ts";

test("an escrow's vault is the associated token account that a search for the bump finds", () => {
  fc.assert(
    fc.property(anyEscrow(LOCAL_DEPLOYMENT), (escrow) => {
      expect(vaultAddress(escrow)).toBe(associatedTokenAddress(escrow.address, escrow.mint));
    }),
    runs(50),
  );
});
