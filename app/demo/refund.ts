import type { EscrowRecord } from "../../adapters/http/escrow/escrow-contract.ts";
import { amountText } from "./amount-text.ts";
import { eventually, expectSame, expectValue } from "./demo-failed.ts";
import { relayAs, type Stage } from "./stage.ts";
import { instructionFrom } from "./wallet.ts";

/** Tolerance for a ledger clock that is a little behind. */
const GRACE_SECONDS = 20;

/** Nobody delivers, the escrow expires, and a passer-by sends the refund. @throws DemoFailed */
export const refund = async (
  stage: Stage,
  escrow: EscrowRecord,
  ttlSeconds: number,
): Promise<void> => {
  const { narrator, service, passerBy } = stage;
  const path = `/v1/escrows/${escrow.escrow_pda}`;
  narrator.step(
    "Nobody delivers",
    `At ${escrow.expires_at} the escrow expires, by the ledger's clock. From then on it can only be refunded.`,
  );
  narrator.request("GET", service.url + path, undefined);
  const { data: expired } = await eventually(
    "the escrow becomes refundable",
    ttlSeconds + GRACE_SECONDS,
    () => service.watch<{ data: EscrowRecord }>(path),
    ({ data }) => data.refundable,
  );
  const action = expectValue(
    expired.next_actions.find(({ action }) => action === "claim_refund"),
    "the expired escrow offers no claim_refund",
  );
  narrator.result(
    `refundable; next_actions: ${action.action} by ${action.by}, ${action.instructions.length} ready instructions`,
  );

  narrator.step(
    "A passer-by refunds it",
    "The instructions of next_actions are complete but for their sender, so anyone can run refunds.\nThe money goes to the agent, whoever sends them.",
  );
  await relayAs(
    stage,
    "passer-by",
    passerBy,
    "the instructions of next_actions, as they are",
    action.instructions.map(instructionFrom),
  );
  const { data: settled } = await service.get<{ data: EscrowRecord }>(path);
  expectSame("the escrow's state", settled.state, "Refunded");
  expectSame("the refunded amount", settled.refunded_stroops, escrow.amount_stroops);
  narrator.result(`${settled.state}: ${amountText(settled)} are the agent's again`);
};
