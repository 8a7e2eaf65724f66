import type { Address } from "../../core/domain/address.ts";
import type { DeployContext } from "../deploy/deploy-context.ts";
import { solText } from "../deploy/deploy-cost.ts";
import { requireFunds } from "../deploy/cluster/require-funds.ts";
import { DEMO_LAMPORTS } from "./funds/demo-lamports.ts";
import type { Narrator } from "./narrator.ts";
import { payerFunds } from "./funds/payer-funds.ts";
import { type DemoResult, runDemo } from "./run-demo.ts";

/**
 * The demo at a running service, paid for by a payer, who gets back what is left, also when the demo fails. @throws DemoFailed and
 * DeployStopped
 */
export const runPaidDemo = async (
  context: DeployContext,
  url: string,
  mint: Address,
  narrator: Narrator,
): Promise<DemoResult> => {
  const { rpc, payer, say } = context;
  await requireFunds(context, DEMO_LAMPORTS + (await rpc.rentExempt(0)), false);
  const before = await rpc.balance(payer.address);
  const funds = payerFunds(context, mint);
  try {
    return await runDemo(url, mint, narrator, funds);
  } finally {
    const { lamports, tokens } = await funds.giveBack();
    const cost = before - (await rpc.balance(payer.address));
    say(
      `\nThe parties returned ${lamports} lamports and ${tokens} base units. The demo cost ${cost} lamports (${solText(cost)} SOL): fees, and deposits of accounts that stay.`,
    );
  }
};
