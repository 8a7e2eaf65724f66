import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main } from "../../../app/commands/verify.ts";
import type { EscrowRecord } from "../../../adapters/http/escrow/escrow-contract.ts";
import { PROGRAM_HASHES } from "../../../core/protocol/generated/program-hashes.ts";
import { attested, NETWORK } from "../../arbitraries/evidence.ts";
import { goldenEscrow, invented } from "../../conformance/evidence/packet-edits.ts";
import { trustDocument } from "../../conformance/evidence/policy-vectors.ts";
import { demoService } from "../support/demo-ledger.ts";
import { runHere } from "../support/run-here.ts";
import { synced } from "../support/running-service.ts";

const { directory, service, end } = await demoService();
let genesisHash: string;

const at = (name: string): string => join(directory.path, name);

/** Runs the command; a bare file's name is of one in the directory. */
const verify = (...args: ReadonlyArray<string>) => {
  const given = args.map((arg) => (/^[\w-]+\.json$/.test(arg) ? at(arg) : arg));
  return runHere((io) => runCommand(main, given, io));
};

const save = async (name: string, content: string | Uint8Array): Promise<string> => {
  const path = join(directory.path, name);
  await Bun.write(path, content);
  return path;
};

const textOf = async (path: string) => (await fetch(`${service.url}${path}`)).text();

/** The verdict as JSON, with the outcome of each check by its name. */
const judged = ({ stdout }: { readonly stdout: string }) => {
  const { verdict, checks, unproven } = JSON.parse(stdout) as {
    verdict: string;
    checks: ReadonlyArray<{ name: string; outcome: string }>;
    unproven: ReadonlyArray<string>;
  };
  const failed = checks.filter(({ outcome }) => outcome === "failed").map(({ name }) => name);
  return { verdict, failed, unproven };
};

const fulfilledEscrow = async (): Promise<string> => {
  const { data } = JSON.parse(await textOf("/v1/indexer?state=Fulfilled")) as {
    data: ReadonlyArray<EscrowRecord>;
  };
  return data[0]?.escrow_pda ?? "none";
};

/** A node that answers as another one does, but shows no account where the third of several is asked for. */
const withoutConfiguration = (rpcUrl: string) => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const call = (await request.json()) as { readonly method: string };
      const answer = await fetch(rpcUrl, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(call),
      });
      const body = (await answer.json()) as {
        readonly result: { readonly value: Array<object | null> };
      };
      if (call.method === "getMultipleAccounts") body.result.value[2] = null;
      return Response.json(body);
    },
  });
  return { url: server.url.href, [Symbol.dispose]: () => void server.stop(true) };
};

beforeAll(async () => {
  await synced(service.url);
  const trust = await textOf("/.well-known/evidence-trust.json");
  await save("trust.json", trust);
  genesisHash = (JSON.parse(trust) as { genesis_hash: string }).genesis_hash;
});

afterAll(end);

describe("true packets, checked with a node", () => {
  test("leave nothing unproven in any state, and the exit code is 0", async () => {
    const { data } = JSON.parse(await textOf("/v1/indexer")) as {
      data: ReadonlyArray<EscrowRecord>;
    };
    const states = [...new Map(data.map((row) => [row.state, row.escrow_pda])).entries()];
    expect(states.map(([state]) => state).sort()).toEqual([
      "Fulfilled",
      "PartiallyFulfilled",
      "Pending",
      "Refunded",
    ]);
    await Promise.all(
      states.map(async ([state, pda]) => {
        const file = await save(`${state}.json`, await textOf(`/v1/evidence/${pda}`));
        const rpc = ["--rpc", service.rpcUrl, "--json"];
        const result = await verify(file, "--trust", "trust.json", ...rpc);
        expect([state, result.code, result.stderr]).toEqual([state, 0, ""]);
        expect(judged(result)).toEqual({ verdict: "verified", failed: [], unproven: [] });
      }),
    );
  });

  test("name the checks that are not shown, with and without a node", async () => {
    const [offline, asked] = await Promise.all([
      verify("Fulfilled.json", "--trust", "trust.json"),
      verify("Fulfilled.json", "--trust", "trust.json", "--rpc", service.rpcUrl),
    ]);
    expect(offline.stdout).toContain(
      "Not shown here: account_on_ledger, attestor_is_the_merchants. Ask a node of your choice with --rpc URL.",
    );
    expect(asked.stdout).not.toContain("Not shown here");
    for (const { stdout } of [offline, asked]) {
      expect(stdout).toContain("A packet does not show that anything was delivered");
      expect(stdout).toEndWith("\nverified\n");
    }
  });
});

test("a policy that pins the programs' hashes is held against the node's programs", async () => {
  const trust = JSON.parse(await textOf("/.well-known/evidence-trust.json")) as object;
  const pinning = (custody: string) =>
    save(
      `pins-${custody.slice(0, 8)}.json`,
      JSON.stringify({
        ...trust,
        custody_program_sha256: ["ab".repeat(32), custody],
        attestor_program_sha256: [PROGRAM_HASHES.attestor.v0],
      }),
    );
  const [right, wrong] = await Promise.all([
    pinning(PROGRAM_HASHES.custody.v0),
    pinning("cd".repeat(32)),
  ]);
  const asked = ["--json", "--rpc", service.rpcUrl];
  const [passed, failed, offline] = await Promise.all([
    verify("Fulfilled.json", "--trust", right, ...asked),
    verify("Fulfilled.json", "--trust", wrong, ...asked),
    verify("Fulfilled.json", "--trust", right, "--json"),
  ]);
  expect(judged(passed)).toEqual({ verdict: "verified", failed: [], unproven: [] });
  expect(passed.code).toBe(0);
  expect(judged(failed)).toMatchObject({ verdict: "failed", failed: ["program_bytes"] });
  expect(failed.code).toBe(1);
  expect(failed.stdout).toContain(`custody ${PROGRAM_HASHES.custody.v0}`);
  expect(judged(offline).unproven).toContain("program_bytes");
});

describe("a lying service that invented everything", () => {
  test("passes offline with two checks named as unproven, and fails with a node", async () => {
    const network = { ...NETWORK, genesisHash };
    const names = ["fulfilled", "partially-fulfilled", "refunded", "pending"];
    await save(
      "liar-trust.json",
      JSON.stringify({ ...trustDocument(), genesis_hash: genesisHash }),
    );
    await Promise.all(
      names.map(async (name) => {
        const lie = await save(
          `lie-${name}.json`,
          invented(attested(goldenEscrow(name).escrow, network), { network }),
        );
        const trusting = [lie, "--trust", "liar-trust.json", "--json"];
        const [offline, asked] = await Promise.all([
          verify(...trusting),
          verify(...trusting, "--rpc", service.rpcUrl),
        ]);
        expect([offline.code, asked.code]).toEqual([0, 1]);
        expect(judged(offline)).toEqual({
          verdict: "verified",
          failed: [],
          unproven: ["account_on_ledger", "attestor_is_the_merchants"],
        });
        expect(judged(asked).verdict).toBe("failed");
        expect(judged(asked).failed).toContain("account_on_ledger");
      }),
    );
  });
});

describe("undecided packets", () => {
  test("a node that does not answer leaves the packet undecided, and its address is shown in part only", async () => {
    const result = await verify(
      "Fulfilled.json",
      "--trust",
      "trust.json",
      "--rpc",
      "http://user:secret@127.0.0.1:1/key?api-key=secret",
    );
    expect(result).toEqual({
      code: 69,
      stdout: "",
      stderr:
        "the node at http://127.0.0.1:1 gave no usable answer; the packet is undecided. Check the address, or name another node with --rpc\n",
    });
  });

  test("a node that contradicts itself leaves the packet undecided, and a second one that does not decides", async () => {
    await save("Decided.json", await textOf(`/v1/evidence/${await fulfilledEscrow()}`));
    using liar = withoutConfiguration(service.rpcUrl);
    const asked = ["Decided.json", "--trust", "trust.json", "--json", "--rpc", liar.url];
    const [alone, both] = await Promise.all([
      verify(...asked),
      verify(...asked, "--rpc", service.rpcUrl),
    ]);
    expect(alone).toEqual({
      code: 69,
      stdout: "",
      stderr: `the answer of the node at ${new URL(liar.url).origin} decides nothing: it shows an escrow, and no configuration of the program that made it; the packet is undecided. Check the address, or name another node with --rpc\n`,
    });
    expect(both.code).toBe(0);
    expect(judged(both)).toEqual({ verdict: "verified", failed: [], unproven: [] });
  });

  test("each node that is named is asked while those before it decide nothing", async () => {
    await save("Asked.json", await textOf(`/v1/evidence/${await fulfilledEscrow()}`));
    using first = withoutConfiguration(service.rpcUrl);
    using second = withoutConfiguration(service.rpcUrl);
    const asked = ["Asked.json", "--trust", "trust.json", "--rpc", first.url, "--rpc", second.url];
    const [two, three] = await Promise.all([
      verify(...asked),
      verify(...asked, "--rpc", service.rpcUrl),
    ]);
    const named = [first, second].map(({ url }) => new URL(url).origin).join(", ");
    expect([two.code, two.stdout, two.stderr]).toEqual([
      69,
      "",
      `the nodes at ${named} gave no answer that decides, the last one because it shows an escrow, and no configuration of the program that made it; the packet is undecided. Check the address, or name another node with --rpc\n`,
    ]);
    expect([three.code, three.stderr]).toEqual([0, ""]);
    expect(three.stdout).toEndWith("\nverified\n");
  });

  test("a packet that fails offline has failed: a dead node is not asked, and does not hide it", async () => {
    const packet = await Bun.file(join(directory.path, "Fulfilled.json")).text();
    const tampered = await save(
      "tampered.json",
      packet.replace('"status":"released"', '"status":"refunded"'),
    );
    const dead = ["--trust", "trust.json", "--rpc", "http://127.0.0.1:1"];
    const [forMachines, forPeople] = await Promise.all([
      verify(tampered, ...dead, "--json"),
      verify(tampered, ...dead),
    ]);
    expect([forMachines.code, forMachines.stderr]).toEqual([1, ""]);
    expect(judged(forMachines).failed).toEqual([
      "digest",
      "service_signature",
      "settlement_decision",
    ]);
    expect(forPeople.code).toBe(1);
    expect(forPeople.stdout).toContain(
      "The node was not asked, because the packet fails without it.",
    );
    expect(forPeople.stdout).toEndWith("\nfailed\n");
  });

  test("an invalid node address is a fault of the command line, whatever the packet is", async () => {
    const wrong = await save("wrong.json", "{}");
    const { code, stderr } = await verify(wrong, "--rpc", "not-an-address");
    expect([code, stderr]).toEqual([
      64,
      "--rpc: expected the http:// or https:// address of a node\n",
    ]);
  });

  test("a packet or trust document that cannot be read is named with the cure", async () => {
    const [packet, trust, other] = await Promise.all([
      verify("absent.json", "--trust", "trust.json"),
      verify("Fulfilled.json", "--trust", "http://127.0.0.1:1"),
      verify("Fulfilled.json", "--trust", "Fulfilled.json"),
    ]);
    expect([packet.code, trust.code, other.code]).toEqual([66, 66, 66]);
    const cure = ". Name a file that exists, or an address that answers\n";
    expect(packet.stderr).toStartWith(`${at("absent.json")} cannot be read: `);
    expect(packet.stderr).toEndWith(cure);
    expect(trust.stderr).toStartWith("http://127.0.0.1:1 cannot be read: ");
    expect(trust.stderr).toEndWith(cure);
    expect(other.stderr).toBe(
      `${at("Fulfilled.json")}: the trust policy has an unknown member. Fetch /.well-known/evidence-trust.json of the service, check it, and keep it\n`,
    );
  });

  test("a file with a byte order mark, or that is not UTF-8, fails in its form and no node is asked", async () => {
    const packet = await Bun.file(join(directory.path, "Fulfilled.json")).bytes();
    const marked = await save("marked.json", Uint8Array.from([0xef, 0xbb, 0xbf, ...packet]));
    const broken = await save("broken.json", packet.with(20, 0xff));
    for (const file of [marked, broken]) {
      const result = await verify(
        file,
        "--trust",
        "trust.json",
        "--json",
        "--rpc",
        "http://127.0.0.1:1",
      );
      expect([result.code, judged(result).failed]).toEqual([1, ["form"]]);
    }
  });
});
