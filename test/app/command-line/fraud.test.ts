import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { refusedRecord } from "../../../adapters/http/witness/witness-answers.ts";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main } from "../../../app/commands/verify.ts";
import { address } from "../../../core/domain/address.ts";
import { eventsIn } from "../../../core/log/tree/frontier.ts";
import { subtreesOf } from "../../../core/log/tree/subtree.ts";
import { TreeEdge } from "../../../core/log/tree/tree-edge.ts";
import { NETWORK } from "../../arbitraries/evidence.ts";
import {
  checkpointNote,
  LOG_KEY,
  tileBytes,
  type Tree,
  treeOf,
} from "../../conformance/evidence/log-world.ts";
import { custodyConfigAccount } from "../../doubles/custody-config.ts";
import { runHere } from "../support/run-here.ts";
import { temporaryDirectory } from "../support/running-service.ts";

const TRUST = join(import.meta.dir, "../../vectors/evidence/log-trust.json");
const TRUE_TREE = treeOf(300, new Map());
const FALSE_TREE = treeOf(300, new Map([[7n, Uint8Array.of(1)]]));
const note = ({ size, root }: Tree) => checkpointNote({ origin: LOG_KEY.key.name, size, root }, []);

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
const log = Bun.serve({
  port: 0,
  fetch: (request) => {
    const path = new URL(request.url).pathname.replace("/log/", "");
    const bytes = tileBytes(FALSE_TREE, path);
    return bytes === undefined ? new Response(null, { status: 404 }) : new Response(bytes.slice());
  },
});
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(async () => {
  await log.stop(true);
  await directory.remove();
});

const save = async (name: string, text: string): Promise<string> => {
  const path = join(directory.path, name);
  await Bun.write(path, text);
  return path;
};
const run = (...args: ReadonlyArray<string>) => runHere((io) => runCommand(main, args, io));
const make = (...args: ReadonlyArray<string>) => run("--fraud", ...args, "--trust", TRUST);

/** Makes a file of two inputs, and expects that another process verifies it under the trust document. */
const expectFraud = async (kind: string, inputs: ReadonlyArray<string>) => {
  const made = await make(...inputs);
  expect(made).toMatchObject({ code: 0 });
  expect(made.stderr).toContain(`${kind}: `);
  const file = await save(`${kind}.json`, made.stdout);
  const checked = await run("--fraud", file, "--trust", TRUST);
  expect(checked).toMatchObject({ code: 0, stderr: "" });
  expect(checked.stdout).toEndWith("\nverified\n");
  expect((await run("--fraud", file)).code).toBe(2);
  return { file, checked };
};

test("two checkpoints of one size, one of them out of what a witness refused", async () => {
  const signed = await save("signed", note(TRUE_TREE));
  const refused = [TRUE_TREE, FALSE_TREE].map((tree) => ({
    origin: LOG_KEY.key.name,
    reason: "the ledger has another root at this size",
    checkpoint: note(tree),
  }));
  const answer = await save("refused.json", JSON.stringify({ refused }));
  const { file } = await expectFraud("two_roots", [signed, answer]);
  const parsed = (await Bun.file(file).json()) as { checkpoints: ReadonlyArray<string> };
  expect(parsed.checkpoints).toEqual([note(TRUE_TREE), note(FALSE_TREE)]);
  const json = await run("--fraud", file, "--trust", TRUST, "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({ verdict: "verified", kind: "two_roots" });
});

test("what a witness refused, with the account that its node showed, is enough alone", async () => {
  const roots = subtreesOf({ from: 0, to: 300 }).map(TRUE_TREE.source);
  const logged = eventsIn(new TreeEdge(300, roots));
  const deployment = {
    custodyProgram: address(NETWORK.custodyProgram),
    attestorProgram: address(NETWORK.attestorProgram),
  };
  const { owner, data } = custodyConfigAccount(deployment, logged, address(NETWORK.genesisHash));
  const refused = refusedRecord([
    {
      origin: LOG_KEY.key.name,
      reason: "the ledger has another root at this size",
      checkpoint: note(FALSE_TREE),
      config: { slot: 7n, owner, data },
    },
  ]);
  const answer = await save("refused-alone.json", JSON.stringify(refused));
  await expectFraud("not_the_ledgers_root", [answer]);
  const { refused: entries } = refused;
  const without = entries.map((entry) => ({ ...entry, config: null }));
  const bare = await save("refused-bare.json", JSON.stringify({ refused: without }));
  expect(await make(bare)).toMatchObject({ code: 1 });
});

test("a checkpoint and the ledger's account, as a node or the solana command shows it", async () => {
  const roots = subtreesOf({ from: 0, to: 300 }).map(TRUE_TREE.source);
  const deployment = {
    custodyProgram: address(NETWORK.custodyProgram),
    attestorProgram: address(NETWORK.attestorProgram),
  };
  const events = eventsIn(new TreeEdge(300, roots));
  const account = custodyConfigAccount(deployment, events, address(NETWORK.genesisHash));
  const shown = { owner: account.owner, data: [account.data.toBase64(), "base64"], lamports: 1 };
  const signed = await save("false", note(FALSE_TREE));
  for (const form of [
    { pubkey: account.address, account: shown },
    { jsonrpc: "2.0", result: { context: { slot: 1 }, value: shown }, id: 1 },
  ]) {
    const path = await save("account.json", JSON.stringify(form));
    const { checked } = await expectFraud("not_the_ledgers_root", [signed, path]);
    expect(checked.stdout).toContain("Not shown here: config_on_ledger.");
  }
});

test("two checkpoints of different sizes, by the log's own tiles", async () => {
  const inputs = [
    await save("smaller", note(treeOf(120, new Map()))),
    await save("larger", note(FALSE_TREE)),
  ];
  expect((await make(...inputs)).code).toBe(1);
  await expectFraud("not_consistent", [...inputs, "--log", log.url.href]);
});

test("what shows no fraud, and a wrong command line", async () => {
  const signed = await save("signed", note(TRUE_TREE));
  const none = await make(signed, signed);
  expect(none).toMatchObject({ code: 1, stdout: "" });
  expect(none.stderr).toContain("No fraud is shown by 2 checkpoints and 0 accounts");
  expect((await run("--fraud", signed, "--trust", TRUST)).code).toBe(1);
  expect((await run("--fraud", signed, signed)).code).toBe(64);
  expect((await make(signed, signed, signed)).code).toBe(64);
  expect((await make(signed, "--rpc", "http://127.0.0.1:1")).code).toBe(64);
  expect((await make(join(directory.path, "missing"), signed)).code).toBe(66);
  expect((await run(signed, signed, "--trust", TRUST)).code).toBe(64);
  const newer = await save("newer", '{"version":"settlement-evidence-fraud-v2"}');
  expect((await run("--fraud", newer)).code).toBe(3);
});
