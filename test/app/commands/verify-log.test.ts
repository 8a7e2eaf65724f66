import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main } from "../../../app/commands/verify.ts";
import { loggedEscrow, packetWithLog } from "../../conformance/evidence/log-vectors.ts";
import {
  checkpointNote,
  leavesWith,
  logPolicyText,
  logProofOf,
  originOf,
  tileBytes,
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
      "witness   account_on_ledger: witnesses state that the ledger left this account as it is here: complete up to event 299 as of 2026-08-01T00:00:00Z, by 2 nodes; quorum q wants 2 of [alpha, beta, gamma]; signed: alpha, beta\n",
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
      "ok        log_consistency: the log's tree of 900 leaves begins with the packet's of 300; complete up to event 899 as of 2026-08-01T00:00:00Z, by 2 nodes\n",
    );
  });

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
