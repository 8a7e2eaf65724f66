import { join } from "node:path";
import { type Address, parseAddress } from "../core/domain/address.ts";
import type { Deployment } from "../core/domain/ledger/deployment.ts";
import { deployedIdl } from "../core/protocol/addresses/deployed-idl.ts";
import { PROGRAM_NAMES } from "./compile.ts";
import { decodeIdlAccount, idlAddress, PROGRAM_METADATA } from "./idl-account.ts";

const USAGE = `usage: bun run published-idl custody|attestor CUSTODY_ID ATTESTOR_ID [--rpc URL]

Prints the program's IDL for a deployment with these program ids, to publish it. With --rpc it says instead whether the upgrade
authority has published that very IDL there: 0 the same, 1 another or none, 2 the node gave no usable answer.`;

const end = (status: number, text: string): never => {
  (status === 0 ? process.stdout : process.stderr).write(`${text}\n`);
  process.exit(status);
};

/** The IDL with the addresses that both programs have on that ledger. */
const idlFor = async (name: string, deployment: Deployment): Promise<unknown> =>
  deployedIdl(await Bun.file(join(import.meta.dir, `${name}.idl.json`)).json(), deployment);

/** Owner and data of the account, null when there is none. @throws Error when the node does not answer that. */
const accountAt = async (rpc: string, at: Address) => {
  const params = [at, { encoding: "base64", commitment: "finalized" }];
  const response = await fetch(rpc, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getAccountInfo", params }),
  });
  const { result } = (await response.json()) as {
    readonly result?: {
      readonly value: { readonly owner: string; readonly data: [string, string] } | null;
    };
  };
  if (result === undefined) throw new Error(`${response.status} without a result`);
  return result.value;
};

const [name, custody, attestor, option, rpc, ...more] = process.argv.slice(2);
const custodyProgram = parseAddress(custody ?? "");
const attestorProgram = parseAddress(attestor ?? "");
const known = PROGRAM_NAMES.find((each) => each === name);
if (
  known === undefined ||
  custodyProgram === undefined ||
  attestorProgram === undefined ||
  more.length > 0
)
  end(2, USAGE);
else {
  const deployment = { custodyProgram, attestorProgram };
  const program = deployment[`${known}Program`];
  const idl = await idlFor(known, deployment);
  if (option === undefined) end(0, JSON.stringify(idl, null, 2));
  if (option !== "--rpc" || rpc === undefined) end(2, USAGE);
  const at = idlAddress(program);
  const account = await accountAt(rpc ?? "", at).catch((cause: unknown) =>
    end(2, `the node gave no usable answer: ${cause instanceof Error ? cause.message : ""}`),
  );
  if (account === null || account.owner !== PROGRAM_METADATA)
    end(1, `no IDL is published: ${at} is not an account of the Program Metadata program`);
  else {
    const text = decodeIdlAccount(program, new Uint8Array(Buffer.from(account.data[0], "base64")));
    let published: unknown;
    try {
      published = JSON.parse(text ?? "");
    } catch {
      end(1, `${at} holds no IDL that can be read`);
    }
    if (!Bun.deepEquals(published, idl, true)) end(1, `${at} holds another IDL`);
    end(0, `${at} holds this IDL`);
  }
}
