import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { type Address, parseAddress } from "../../../core/domain/address.ts";
import {
  decodeIdlAccount,
  encodeIdlAccount,
  idlAddress,
  PROGRAM_METADATA,
} from "../../../programs/idl-account.ts";
import { deployedIdl } from "../../../core/protocol/addresses/local-deployment.ts";
import attestorIdl from "../../../programs/attestor.idl.json" with { type: "json" };
import * as s from "../fixture/settlement.ts";
import vectors from "../../vectors/program-metadata.json" with { type: "json" };

const bytes = (base64: string): Uint8Array => Uint8Array.from(Buffer.from(base64, "base64"));
const addressOf = (text: string): Address => {
  const found = parseAddress(text);
  if (found === undefined) throw new Error(text);
  return found;
};
const custody = s.deployment.custodyProgram;

describe("the account of a published IDL", () => {
  test.each(vectors.cases)(
    "$program, $compression: as the Program Metadata program's own client has it",
    ({ program, address, account }) => {
      expect<string>(idlAddress(addressOf(program))).toBe(address);
      expect(decodeIdlAccount(addressOf(program), bytes(account))).toBe(vectors.content);
    },
  );

  test("an encoded account has the client's header, and decodes back", () => {
    const zlib = vectors.cases.find(
      ({ program, compression }) => program === custody && compression === "zlib",
    );
    const ours = encodeIdlAccount(custody, vectors.content);
    // After 88 bytes comes the length of the zlib data, which may differ.
    expect(ours.slice(0, 87)).toEqual(bytes(zlib?.account ?? "").slice(0, 87));
    expect(decodeIdlAccount(custody, ours)).toBe(vectors.content);
  });

  test("another program's account, an external one and one that does not unpack are refused", () => {
    const account = encodeIdlAccount(custody, vectors.content);
    const other = s.deployment.attestorProgram;
    expect(decodeIdlAccount(other, account)).toBeUndefined();
    // discriminator, canonical, seed, encoding, compression, source, content
    for (const at of [0, 66, 67, 83, 84, 86, 100])
      expect(decodeIdlAccount(custody, account.with(at, 9))).toBeUndefined();
    for (const length of [0, 95, 96, account.length - 1])
      expect(decodeIdlAccount(custody, account.slice(0, length))).toBeUndefined();
    const bomb = deflateSync(new Uint8Array(2 << 20));
    const swollen = Uint8Array.from([...account.slice(0, 96), ...bomb]);
    new DataView(swollen.buffer).setUint32(87, bomb.length, true);
    expect(decodeIdlAccount(custody, swollen)).toBeUndefined();
  });
});

describe("programs/published-idl.ts", () => {
  /** The node's answer for every account. */
  let value: unknown = null;
  const node = Bun.serve({
    port: 0,
    fetch: () => Response.json({ jsonrpc: "2.0", id: 1, result: { value } }),
  });
  afterAll(() => node.stop(true));

  const run = async (...args: ReadonlyArray<string>) => {
    const command = join(import.meta.dir, "../../../programs/published-idl.ts");
    const child = Bun.spawn([process.execPath, command, ...args], {
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err, status] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { out, err, status };
  };
  const account = (text: string, owner: string = PROGRAM_METADATA) => ({
    owner,
    data: [Buffer.from(encodeIdlAccount(custody, text)).toString("base64"), "base64"],
  });

  test("prints the IDL for a program id, and recognizes it as published", async () => {
    const printed = await run("custody", custody, s.deployment.attestorProgram);
    expect(printed.status).toBe(0);
    expect((JSON.parse(printed.out) as { address: string }).address).toBe(custody);
    const standing = async (found: unknown) => {
      value = found;
      const { status, err } = await run(
        "custody",
        custody,
        s.deployment.attestorProgram,
        "--rpc",
        node.url.href,
      );
      return `${status} ${err.trim()}`;
    };
    expect(await standing(account(printed.out))).toBe("0 ");
    expect(
      await standing(account(printed.out.replace("create_escrow", "create_escrov"))),
    ).toContain("1 FYmrxXGviaUptExGtsyZQzckJwsse3Ea8EyrLeZt3bzW holds another IDL");
    expect(await standing(account("no JSON"))).toContain("holds no IDL that can be read");
    expect(await standing(account(printed.out, custody))).toContain("1 no IDL is published");
    expect(await standing(null)).toContain("1 no IDL is published");
  });

  test("prints a deployment's IDL with both of its program ids", async () => {
    const { out } = await run("attestor", s.agent.address, s.merchant.address);
    const idl: unknown = JSON.parse(out);
    const deployment = { custodyProgram: s.agent.address, attestorProgram: s.merchant.address };
    expect(idl).toEqual(deployedIdl(attestorIdl, deployment));
    expect(idl).toMatchObject({ address: s.merchant.address });
  });

  test("names the mistake in a command line, and a node without an answer", async () => {
    const ids = "CUSTODY_ID and ATTESTOR_ID must be addresses in base58; see --help\n";
    expect(await run("custody", custody, "no address")).toEqual({ status: 64, out: "", err: ids });
    expect(await run("custody", custody)).toEqual({ status: 64, out: "", err: ids });
    const wrong = await Promise.all([
      run("custodian", custody, custody),
      run("custody", custody, custody, "--rcp", "http://127.0.0.1:1"),
      run("custody", custody, custody, "--rpc", "no-address"),
      run("custody", custody, custody, "--rpc", "http://127.0.0.1:1"),
    ]);
    expect(wrong.map(({ status }) => status)).toEqual([64, 64, 64, 69]);
    expect(wrong.map(({ err }) => err.split(/[,:]/)[0])).toEqual([
      "expected custody or attestor",
      "expected --rpc URL behind both ids",
      "--rpc",
      "the node gave no usable answer",
    ]);
    expect(await run("--help")).toMatchObject({ status: 0, err: "" });
  });
});
