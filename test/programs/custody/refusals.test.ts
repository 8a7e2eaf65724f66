import { describe, expect, test } from "bun:test";
import { custodyConfigAddress } from "../../../core/protocol/addresses/addresses.ts";
import { REFUSED_SETTLEMENTS } from "../fixture/refused-settlements/refused-settlements.ts";
import * as s from "../fixture/settlement.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import type { Wallet } from "../fixture/wallet.ts";

/** Every account that an instruction of custody could change, but for the payer of the fee. */
const accountsOn = (ledger: TestLedger, payer: Wallet) =>
  [
    s.escrow,
    s.vault,
    s.agentTokens,
    s.merchantTokens,
    s.merchantPda,
    custodyConfigAddress(s.deployment).address,
    s.agent.address,
    s.merchant.address,
    s.stranger.address,
  ]
    .filter((each) => each !== payer.address)
    .map((each) => ledger.account(each));

describe("the program refuses by name, and nothing moves:", () => {
  test.each(REFUSED_SETTLEMENTS.map((each) => [`${each.refusal}: ${each.of}`, each] as const))(
    "%s",
    (_, { ledger: begin, instructions: of, signers = [s.stranger], refusal }) => {
      const ledger = begin();
      const instructions = of(ledger);
      const [payer, ...others] = signers;
      const before = accountsOn(ledger, payer);
      expect(ledger.send(instructions, [payer, ...others]).refusal).toBe(refusal);
      expect(accountsOn(ledger, payer)).toEqual(before);
    },
  );
});
