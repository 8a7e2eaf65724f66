import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main } from "../../../app/commands/verify.ts";
import { address } from "../../../core/domain/address.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { eventsIn } from "../../../core/log/tree/frontier.ts";
import { subtreesOf } from "../../../core/log/tree/subtree.ts";
import { TreeEdge } from "../../../core/log/tree/tree-edge.ts";
import { encodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import { encodeMerchantAccount } from "../../../core/protocol/accounts/merchant-account.ts";
import { merchantAddress } from "../../../core/protocol/addresses/addresses.ts";
import { accountOf, clockAccount } from "../../doubles/accounts.ts";
import { custodyConfigAccount } from "../../doubles/custody-config.ts";
import { loggedEscrow, packetWithLog } from "../../conformance/evidence/logged-packets.ts";
import {
  checkpointNote,
  leavesWith,
  logPolicyText,
  logProofOf,
  originOf,
  tileBytes,
  type Tree,
  treeOf,
  WITNESSES,
} from "../../conformance/evidence/log-world.ts";
import { trustDocument } from "../../conformance/evidence/policy-vectors.ts";
import { NETWORK } from "../../arbitraries/evidence.ts";
import { temporaryDirectory } from "../support/running-service.ts";
import { runHere } from "../support/run-here.ts";

const ESCROW = loggedEscrow("fulfilled");
const TREE = treeOf(900, leavesWith(ESCROW));
const GROWN = treeOf(1100, leavesWith(ESCROW));

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
/** The paths that were asked of the log. */
let asked: Array<string> = [];

const answer = (path: string): Response => {
  asked.push(path);
  if (path.startsWith("/moved/")) return Response.redirect(path.replace("/moved", ""), 302);
  const note = checkpointNote(
    { origin: originOf(NETWORK), size: TREE.size, root: TREE.root },
    WITNESSES.slice(1),
  );
  if (path === "/log/checkpoint") return new Response(note);
  // The log has grown since: its lowest partial tile gave way to the full one.
  const isGone = /^\/log\/tile\/0\/.*\.p\//.test(path);
  const bytes = isGone ? undefined : tileBytes(GROWN, path.replace("/log/", ""));
  return bytes === undefined
    ? new Response(null, { status: 404 })
    : new Response(Buffer.from(bytes));
};

const log = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => answer(new URL(request.url).pathname),
});

/** The accounts that a node of the packet's ledger shows, whose own log is a tree. */
const accountsOf = (tree: Tree): ReadonlyMap<string, LedgerAccount> => {
  const roots = subtreesOf({ from: 0, to: tree.size }).map(tree.source);
  const events = eventsIn(new TreeEdge(tree.size, roots));
  const all = [
    custodyConfigAccount(NETWORK, events, address(NETWORK.genesisHash)),
    accountOf(ESCROW.address, NETWORK.custodyProgram, encodeEscrowAccount(ESCROW)),
    merchantOf(ESCROW),
    clockAccount(ESCROW.expiresAt),
  ];
  return new Map(all.map((account) => [account.address, account]));
};

const merchantOf = ({ merchant: wallet, attestor }: Escrow): LedgerAccount => {
  const { address: place, bump } = merchantAddress(NETWORK, wallet);
  const data = encodeMerchantAccount({
    address: place,
    bump,
    wallet,
    attestor,
    previousAttestor: null,
    name: "merchant",
    status: "Active",
    attestorSince: 0n,
    registeredAt: 0n,
    updatedAt: 0n,
    reputation: 0,
    slashes: 0,
    deliveries: 0n,
    partialDeliveries: 0n,
    volume: 0n,
    revokedSeq: 0n,
  });
  return accountOf(place, NETWORK.attestorProgram, data);
};

/** A node that shows accounts, and the calls that it was asked: their names, and how many accounts each named. */
const nodeWith = (accounts: ReadonlyMap<string, LedgerAccount>) => {
  const calls: Array<string> = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const call = (await request.json()) as {
        id: unknown;
        method: string;
        params?: [ReadonlyArray<string>];
      };
      if (call.method === "getGenesisHash") {
        calls.push(call.method);
        return Response.json({ jsonrpc: "2.0", id: call.id, result: NETWORK.genesisHash });
      }
      const [addresses = []] = call.params ?? [];
      calls.push(`${call.method} of ${addresses.length}`);
      const value = addresses.map((one) => {
        const account = accounts.get(one);
        if (account === undefined) return null;
        const { data, executable, lamports, owner } = account;
        return {
          data: [Buffer.from(data).toString("base64"), "base64"],
          executable,
          lamports: Number(lamports),
          owner,
          rentEpoch: 0,
          space: data.length,
        };
      });
      const result = { context: { slot: 1_000_000_000 }, value };
      return Response.json({ jsonrpc: "2.0", id: call.id, result });
    },
  });
  return { url: server.url.href, calls, [Symbol.dispose]: () => void server.stop(true) };
};

const at = (name: string): string => join(directory.path, name);

/** Runs the command; a bare file's name is of one in the directory. */
const verify = (...args: ReadonlyArray<string>) => {
  const given = args.map((arg) => (/^[\w-]+\.json$/.test(arg) ? at(arg) : arg));
  return runHere((io) => runCommand(main, given, io));
};

beforeAll(async () => {
  directory = await temporaryDirectory();
  const save = (name: string, text: string) => Bun.write(join(directory.path, name), text);
  const packet = packetWithLog(ESCROW, logProofOf(ESCROW));
  await save("packet.json", packet);
  await save("wrong.json", packet.replace('"status":"released"', '"status":"refunded"'));
  await save("trust.json", JSON.stringify({ ...trustDocument(), log_on_ledger: logPolicyText() }));
  await save(
    "append-only-trust.json",
    JSON.stringify({ ...trustDocument(), log_append_only: logPolicyText() }),
  );
  await save("plain-trust.json", JSON.stringify(trustDocument()));
  await save(
    "wrong-trust.json",
    JSON.stringify({ ...trustDocument(), log_on_ledger: logPolicyText("quorum r") }),
  );
});

afterAll(async () => {
  await log.stop(true);
  await directory.remove();
});

describe("bun run cli verify --log", () => {
  test("passes offline with the account witnessed, and nothing is left unproven", async () => {
    const { code, stdout } = await verify("packet.json", "--trust", "trust.json");
    expect(code).toBe(0);
    expect(stdout).toContain(
      "witness   account_on_ledger: witnesses state that the ledger left this account as it is here: complete up to event 299 as of 2026-08-01T00:00:00Z, by 2 witnesses at their nodes; quorum q wants 2 of [alpha, beta, gamma]; signed: alpha, beta\n",
    );
    expect(stdout).not.toContain("Not shown here");
    expect(stdout).toEndWith("\nverified\n");
  });

  test("a quorum of witnesses that never look at a ledger witnesses no invented escrow", async () => {
    const { code, stdout } = await verify("packet.json", "--trust", "append-only-trust.json");
    expect(code).toBe(0);
    expect(stdout).toContain(
      "ok        witnessed_append_only: append-only up to event 299 as of 2026-08-01T00:00:00Z, by 2 witnesses; quorum q wants 2 of [alpha, beta, gamma]; signed: alpha, beta\n",
    );
    expect(stdout).toContain("Not shown here: account_on_ledger, attestor_is_the_merchants.");
    expect(stdout).not.toContain("Witnessed by");
    const listed = await verify("packet.json", "--trust", "append-only-trust.json", "--json");
    expect(JSON.parse(listed.stdout).unproven).toEqual([
      "account_on_ledger",
      "attestor_is_the_merchants",
    ]);
  });

  test("compares with the log's checkpoint of now, and says up to when it is complete", async () => {
    asked = [];
    const args = ["--trust", "trust.json", "--log", log.url.href];
    const { code, stdout, stderr } = await verify("packet.json", ...args);
    expect([code, stderr]).toEqual([0, ""]);
    expect(asked).toContain("/log/tile/0/003");
    expect(stdout).toContain(
      "ok        log_consistency: the log's tree of 900 leaves begins with the packet's of 300; complete up to event 899 as of 2026-08-01T00:00:00Z, by 2 witnesses at their nodes\n",
    );
  });

  const byRoot = (tree: Tree) =>
    `the ledger's own log of ${tree.size - 1} events holds the account's last one, by the root that the node shows`;
  const LATER = treeOf(1024, leavesWith(ESCROW));
  test.each([
    ["of the log's own size", TREE, byRoot(TREE), 4],
    ["that has grown since", LATER, byRoot(LATER), 5],
    ["whose proof the log lacks", GROWN, "the same account stands on the ledger", 7],
  ])(
    "with a node of a ledger %s: one read of accounts, one checkpoint, and each tile of a proof once",
    async (_, tree, reason, tiles) => {
      asked = [];
      using node = nodeWith(accountsOf(tree));
      const args = ["--trust", "trust.json", "--log", log.url.href, "--rpc", node.url];
      const { code, stdout, stderr } = await verify("packet.json", ...args);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toContain(`ok        account_on_ledger: ${reason}\n`);
      expect(node.calls).toEqual(["getGenesisHash", "getMultipleAccounts of 4"]);
      expect(asked.filter((path) => path === "/log/checkpoint")).toHaveLength(1);
      expect(new Set(asked).size).toBe(asked.length);
      // A partial tile that gave way to the full one is asked for twice.
      expect(asked.length - 1).toBe(tiles);
      expect(asked.filter((path) => path.includes("entries"))).toEqual([]);
    },
  );

  test("a log that does not answer leaves the packet undecided", async () => {
    const { code, stdout, stderr } = await verify(
      "packet.json",
      "--trust",
      "trust.json",
      "--log",
      `${log.url.href}elsewhere`,
    );
    expect([code, stdout, stderr]).toEqual([
      69,
      "",
      `the log at ${log.url.origin} gave no usable answer (it has no checkpoint); the packet is undecided\n`,
    ]);
  });

  test("a log that redirects is not followed, and the packet is undecided", async () => {
    asked = [];
    const { code, stdout, stderr } = await verify(
      "packet.json",
      "--trust",
      "trust.json",
      "--log",
      `${log.url.href}moved/log`,
    );
    const { origin } = log.url;
    expect([code, stdout, stderr]).toEqual([
      69,
      "",
      `the log at ${origin} gave no usable answer (${origin} redirects to ${origin}/log/checkpoint, and no redirect is followed. Give that address itself, if you trust it.); the packet is undecided\n`,
    ]);
    expect(asked).toEqual(["/moved/log/checkpoint"]);
  });

  test("a packet that fails offline has failed, and the log is not asked", async () => {
    asked = [];
    const args = ["--trust", "trust.json", "--log", log.url.href];
    expect((await verify("wrong.json", ...args)).code).toBe(1);
    expect(asked).toEqual([]);
  });

  test("what is wrong on the command line or in the policy is one line", async () => {
    const [noPolicy, plain, noAddress, wrongPolicy] = await Promise.all([
      verify("packet.json", "--log", log.url.href),
      verify("packet.json", "--trust", "plain-trust.json", "--log", log.url.href),
      verify("packet.json", "--trust", "trust.json", "--log", "nowhere"),
      verify("packet.json", "--trust", "wrong-trust.json"),
    ]);
    const unnamed =
      '--log: give a trust document with --trust that names the log; docs/verify-evidence.md, "With the command", says how\n';
    expect([noPolicy.code, noPolicy.stderr]).toEqual([64, unnamed]);
    expect([plain.code, plain.stderr]).toEqual([64, unnamed]);
    expect([noAddress.code, noAddress.stderr]).toEqual([
      64,
      "--log: expected the http:// or https:// address of a log\n",
    ]);
    expect([wrongPolicy.code, wrongPolicy.stderr]).toEqual([
      66,
      `${at("wrong-trust.json")}: the trust policy: log_on_ledger: r is not defined before it is named. Fetch /.well-known/evidence-trust.json of the service, check it, and keep it\n`,
    ]);
  });
});
