import type { EscrowRecord } from "../../adapters/http/escrow/escrow-contract.ts";
import type { PreparedEscrowRecord } from "../../adapters/http/escrow/prepare/prepared-escrow-contract.ts";
import { amountText } from "./amount-text.ts";
import { DemoFailed, expectSame } from "./demo-failed.ts";
import { relayAs, type Stage } from "./stage.ts";
import { instructionFrom } from "./wallet.ts";

/** What an agent buys, and its price. */
export type Purchase = {
  readonly intent: string;
  readonly amountStroops: string;
  readonly ttlSeconds: number;
};

/**
 * The agent prepares an escrow, signs its creation here and relays it. Returns the escrow as read back. @throws
 * DemoFailed
 */
export const openEscrow = async (stage: Stage, purchase: Purchase): Promise<EscrowRecord> => {
  const { narrator, service, agent, merchant, mint } = stage;
  narrator.step(
    "The agent prepares an escrow",
    `"${purchase.intent}", with ${purchase.ttlSeconds} s to deliver. The service derives the addresses and the unsigned\ninstruction; nothing exists yet. A fresh nonce makes the task its own, however often it is bought.`,
  );
  const { data: prepared } = await service.post<{ data: PreparedEscrowRecord }>(
    "/v1/escrows/prepare?preflight=true",
    {
      agent_owner: agent.address,
      merchant: merchant.address,
      mint,
      amount_stroops: purchase.amountStroops,
      ttl_seconds: purchase.ttlSeconds,
      task_intent: purchase.intent,
      nonce: crypto.randomUUID(),
    },
  );
  if (prepared.preflight?.ready !== true)
    throw new DemoFailed(`the preflight is not ready: ${JSON.stringify(prepared.preflight)}`);
  const { inputs } = prepared;
  narrator.result(
    `escrow ${prepared.escrow_pda}, ${amountText(inputs)}\ntask_hash ${inputs.task_hash}, sha256(intent, 0x00, nonce)`,
  );

  narrator.step(
    "The agent creates it",
    "It builds the transaction from data.instruction and signs it here; the relay only passes it on.",
  );
  await relayAs(stage, "agent", agent, "create_escrow, which moves the USDC into the vault", [
    instructionFrom(prepared.instruction),
  ]);
  const { data: escrow } = await service.get<{ data: EscrowRecord }>(
    `/v1/escrows/${prepared.escrow_pda}`,
  );
  expectSame("the escrow's state", escrow.state, "Pending");
  expectSame("the escrow's amount", escrow.amount_stroops, purchase.amountStroops);
  narrator.result(`${escrow.state}, ${amountText(escrow)} until ${escrow.expires_at}`);
  return escrow;
};
