import Fastify from "fastify";
import { parseAddress } from "../../../../core/domain/address.ts";
import { parseHash32 } from "../../../../core/domain/hash32.ts";
import { kitAddresses } from "../kit-addresses.ts";

// Run by Node as a process: a prepare with only fastify and kit. fastify's schema and kit's address check validate the
// body, and the answer is the derived addresses. Prints its address.
const text = { type: "string" } as const;
const schema = {
  body: {
    type: "object",
    required: ["agent_owner", "merchant", "mint", "amount_stroops", "ttl_seconds", "task_hash"],
    additionalProperties: false,
    properties: {
      agent_owner: text,
      merchant: text,
      mint: text,
      amount_stroops: { type: "string", pattern: "^[1-9][0-9]{0,19}$" },
      ttl_seconds: { type: "integer", minimum: 1, maximum: 604_800 },
      task_hash: { type: "string", pattern: "^[0-9a-f]{64}$" },
    },
  },
};
type Body = Readonly<Record<"agent_owner" | "merchant" | "mint" | "task_hash", string>>;

const app = Fastify();
app.post<{ Body: Body }>("/v1/escrows/prepare", { schema }, async ({ body }, reply) => {
  const agentOwner = parseAddress(body.agent_owner);
  const merchant = parseAddress(body.merchant);
  const mint = parseAddress(body.mint);
  const taskHash = parseHash32(body.task_hash);
  if (!agentOwner || !merchant || !mint || !taskHash) return reply.code(422).send();
  const addresses = await kitAddresses({ agentOwner, merchant, mint, taskHash });
  return {
    data: {
      escrow_pda: addresses.escrow.address,
      vault_token_account: addresses.vaultTokenAccount,
      agent_token_account: addresses.agentTokenAccount,
      merchant_pda: addresses.merchantAccount.address,
      bumps: { escrow: addresses.escrow.bump, merchant: addresses.merchantAccount.bump },
      inputs: body,
    },
  };
});
process.stdout.write(`${await app.listen({ host: "127.0.0.1", port: 0 })}\n`);
