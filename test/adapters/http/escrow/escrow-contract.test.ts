import { expect, test } from "bun:test";
import fc from "fast-check";
import { Escrow, escrowRecord } from "../../../../adapters/http/escrow/escrow-contract.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { testInstance } from "../../../core/use-cases/test-instance.ts";
import { documentSchemas } from "../support/document-schemas.ts";

const faultOf = documentSchemas({});

test("an escrow's record fits its schema, in every state and at any time", () => {
  const offset = fc.oneof(fc.bigInt({ min: -2n, max: 2n }), fc.bigInt({ min: -1000n, max: 1000n }));
  fc.assert(
    fc.property(anyEscrow(LOCAL_DEPLOYMENT), offset, (escrow, seconds) => {
      const made = escrowRecord(escrow, escrow.expiresAt + seconds, testInstance());
      expect(faultOf(Escrow, made)).toBe("");
      expect(Object.keys(made)).toEqual(Object.keys(Escrow.properties));
    }),
    runs(200),
  );
});
