import { expect, test } from "bun:test";
import fc from "fast-check";
import { escrowRecord } from "../../../../adapters/http/records/escrow.ts";
import { escrowText } from "../../../../adapters/http/records/escrow-text.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { runs } from "../../../arbitraries/runs.ts";

test("an escrow's text is that of its record, in every state and at any time", () => {
  const offset = fc.oneof(fc.bigInt({ min: -2n, max: 2n }), fc.bigInt({ min: -1000n, max: 1000n }));
  fc.assert(
    fc.property(anyEscrow(LOCAL_DEPLOYMENT), offset, (escrow, seconds) => {
      const ledgerTime = escrow.expiresAt + seconds;
      expect(escrowText(escrow, ledgerTime, LOCAL_DEPLOYMENT)).toBe(
        JSON.stringify(escrowRecord(escrow, ledgerTime, LOCAL_DEPLOYMENT)),
      );
    }),
    runs(200),
  );
});
