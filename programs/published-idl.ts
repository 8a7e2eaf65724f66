import { join } from "node:path";
import { type Address, parseAddress } from "../core/domain/address.ts";
import type { Deployment } from "../core/domain/ledger/deployment.ts";
import { deployedIdl } from "../core/protocol/addresses/local-deployment.ts";
import { PROGRAM_NAMES } from "./compile.ts";
import { decodeIdlAccount, idlAddress, PROGRAM_METADATA } from "./idl-account.ts";

const USAGE = `usage: bun run cli published-idl custody|attestor CUSTODY_ID ATTESTOR_ID [--rpc URL]

Prints the program's IDL for a deployment with these program ids, to publish it. With --rpc it says instead whether the upgrade
authority has published that very IDL there.

Ends with 0 when the IDL is printed or published, 1 when another one or none is published, 64 for a wrong command line, 69 when
the node gives no usable answer.`;

/** Of sysexits.h, as every command of the project ends. */
const EX_USAGE = 64;
const EX_UNAVAILABLE = 69;

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
if (process.argv.includes("--help")) end(0, USAGE);
const custodyProgram = parseAddress(custody ?? "");
const attestorProgram = parseAddress(attestor ?? "");
const known = PROGRAM_NAMES.find((each) => each === name);
if (known === undefined)
  end(EX_USAGE, `expected ${PROGRAM_NAMES.join(" or ")}, then both program ids; see --help`);
else if (custodyProgram === undefined || attestorProgram === undefined)
  end(EX_USAGE, "CUSTODY_ID and ATTESTOR_ID must be addresses in base58; see --help");
else {
  const deployment = { custodyProgram, attestorProgram };
  const program = deployment[`${known}Program`];
  const idl = await idlFor(known, deployment);
  if (option === undefined) end(0, JSON.stringify(idl, null, 2));
  if (option !== "--rpc" || rpc === undefined || more.length > 0)
    end(EX_USAGE, "expected --rpc URL behind both ids, and nothing else; see --help");
  if (!/^https?:$/.test(URL.parse(rpc ?? "")?.protocol ?? ""))
    end(EX_USAGE, "--rpc: expected the http:// or https:// address of a node");
  const at = idlAddress(program);
  const account = await accountAt(rpc ?? "", at).catch((cause: unknown) =>
    end(
      EX_UNAVAILABLE,
      `the node gave no usable answer: ${cause instanceof Error ? cause.message : ""}. Check the address, or name another node with --rpc`,
    ),
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
