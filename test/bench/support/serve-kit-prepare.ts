import { type Address, getAddressEncoder, getProgramDerivedAddress } from "@solana/kit";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/well-known-addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/local-deployment.ts";

// Run as a process: derives the four addresses of a prepare with kit, and checks nothing. Prints its address.
type Body = {
  readonly agent_owner: Address;
  readonly merchant: Address;
  readonly mint: Address;
  readonly task_hash: string;
};
const bytes = getAddressEncoder();
const derive = async (
  program: string,
  seeds: ReadonlyArray<string | Uint8Array>,
): Promise<Address> =>
  (await getProgramDerivedAddress({ programAddress: program as Address, seeds: [...seeds] }))[0];
const tokenAccount = (owner: Address, mint: Address) =>
  derive(ASSOCIATED_TOKEN_PROGRAM, [
    new Uint8Array(bytes.encode(owner)),
    new Uint8Array(bytes.encode(TOKEN_PROGRAM as string as Address)),
    new Uint8Array(bytes.encode(mint)),
  ]);

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const { agent_owner, merchant, mint, task_hash } = (await request.json()) as Body;
    const escrow = await derive(LOCAL_DEPLOYMENT.custodyProgram, [
      "escrow",
      new Uint8Array(bytes.encode(agent_owner)),
      new Uint8Array(Buffer.from(task_hash, "hex")),
    ]);
    return Response.json({
      data: {
        escrow_pda: escrow,
        vault_token_account: await tokenAccount(escrow, mint),
        agent_token_account: await tokenAccount(agent_owner, mint),
        merchant_pda: await derive(LOCAL_DEPLOYMENT.attestorProgram, [
          "merchant",
          new Uint8Array(bytes.encode(merchant)),
        ]),
      },
    });
  },
});
process.stdout.write(`http://127.0.0.1:${server.port}\n`);
