import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, stat } from "node:fs/promises";
import { readSettings } from "../../../app/config/settings.ts";
import { placeProgram } from "../../../app/deploy/programs/place-program.ts";
import { costText, deployCost } from "../../../app/deploy/deploy-cost.ts";
import type { ProgramState } from "../../../app/deploy/programs/program-state.ts";
import { runDeploy } from "../../../app/deploy/run-deploy.ts";
import { bufferAddress, programBinary } from "../../../app/deploy/programs/program-buffer.ts";
import { readConfiguration } from "../../../app/deploy/programs/initialise-programs.ts";
import {
  decodeProgramDataAccount,
  programHash,
} from "../../../core/protocol/accounts/loader-v3.ts";
import {
  programDataAddress,
  custodyConfigAddress,
  registryAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import { Effect } from "effect";
import {
  type Between,
  deploy,
  emptyCluster,
  type EmptyCluster,
  refusalOf,
} from "./deploy-fixture.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { ledgerDomain } from "../../../core/protocol/accounts/settings-accounts.ts";

const SOL = 1_000_000_000n;

/** The settings of two programs. */
const settingsOf = (custody: string, attestor: string): string =>
  `CUSTODY_PROGRAM_ID=${custody}\nATTESTOR_PROGRAM_ID=${attestor}\n`;

/** A node's refusal of a request. */
const refusing = (id: unknown, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });

let cluster: EmptyCluster;
beforeAll(async () => {
  cluster = await emptyCluster();
});
afterAll(() => cluster.stop());

/** A payer who has nothing yet, and the options of a deployment beside the others. */
const payerApart = async (name: string) => {
  const payer = await cluster.keyFile(`${name}.json`);
  const keys = cluster.path(`${name}-keys`);
  const apart = { "payer-key": payer.path, keys, "env-file": cluster.path(`${name}.env`) };
  return { payer, apart };
};

const first = () =>
  cluster.options({
    "new-payer": true,
    airdrop: true,
    "new-mint": true,
    "second-rpc": cluster.url,
  });

test("one command brings an empty ledger to initialised programs and the service's settings", async () => {
  await Bun.write(cluster.path(".env"), "# mine\nPORT=3100\nSUPPORTED_MINTS=\n");
  const { deployment, mint, said, context } = await deploy(first());
  const { registry, config } = await readConfiguration(context, deployment);
  expect(registry?.admin).toBe(context.payer.address);
  expect(registry?.settlementMint).toBe(mint);
  expect(config?.attestorProgram).toBe(deployment.attestorProgram);
  const { genesisHash } = cluster.ledger;
  const domain = hash32FromBytes(ledgerDomain(genesisHash, deployment.custodyProgram));
  expect(config).toMatchObject({ domain, count: 0n });
  expect(await readConfiguration(context, deployment, genesisHash)).toEqual({ registry, config });
  const elsewhere = await readConfiguration(context, deployment, mint).catch(String);
  expect(elsewhere).toContain("it names another ledger");
  expect(said).toContain("SBPF v3, programs/custody.v3.so, sha256");
  expect(cluster.buffers()).toEqual([]);

  const text = await cluster.env();
  expect(text.split("\n").slice(0, 2)).toEqual(["# mine", "PORT=3100"]);
  expect(said).toContain("replaced in ");
  const env = Object.fromEntries(
    text.split("\n").flatMap((line) => (line.includes("=") ? [line.split("=", 2)] : [])),
  ) as Record<string, string>;
  const settings = await Effect.runPromise(readSettings(env));
  expect(settings.ledger.kind === "remote" && settings.ledger.deployment).toEqual(deployment);
  expect(env["SOLANA_WS_URL"]).toBe(`ws://127.0.0.1:${Number(new URL(cluster.url).port) + 1}/`);
  for (const file of ["custody-program.json", "attestor-program.json", "evidence-key.json"]) {
    const path = cluster.path(`keys/${cluster.ledger.genesisHash}/${file}`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  }
}, 60_000);

test("run again it finds everything done, spends nothing and writes nothing", async () => {
  const { mtimeMs } = await stat(cluster.path(".env"));
  const { said } = await deploy(cluster.options({ yes: false }));
  expect(said).toContain("nothing is left to deploy");
  expect(said).toContain("spent 0 lamports");
  expect((await stat(cluster.path(".env"))).mtimeMs).toBe(mtimeMs);
}, 60_000);

test("without its keys it offers no second pair where the settings name a live one, unless that is asked for", async () => {
  const before = await cluster.env();
  const keys = cluster.path("lost");
  const refusal = await refusalOf(() => deploy(cluster.options({ keys })));
  expect(refusal).toStartWith("1: ");
  expect(refusal).toContain("which stand on this ledger");
  expect(refusal).toContain("--new-programs for a second pair");
  const kept = Bun.file(`${keys}/${cluster.ledger.genesisHash}/custody-program.json`);
  expect(await kept.exists()).toBe(false);
  const anew = cluster.options({ keys, "new-programs": true, "new-mint": true, yes: false });
  const offered: Array<string> = [];
  const ask = (question: string) => (question.startsWith("Admin") ? "" : "n");
  const conversation = { say: (line: string) => void offered.push(line), ask };
  expect(await refusalOf(() => runDeploy(anew, conversation))).toMatch(/^[12]: /);
  expect(offered.join("\n")).toContain("custody: deposit of the program");
  expect(await cluster.env()).toBe(before);
  const other = cluster.path("other.env");
  const [custody, attestor] = [await cluster.keyFile("a.json"), await cluster.keyFile("b.json")];
  const stranger = settingsOf(custody.address, attestor.address);
  await Bun.write(other, stranger);
  const elsewhere = await refusalOf(() => deploy(cluster.options({ "env-file": other })));
  expect(elsewhere).toContain("which do not stand on this ledger");
  expect(await Bun.file(other).text()).toBe(stranger);
}, 60_000);

test("a fee is proposed from what recent blocks took, and an own one asks no node", async () => {
  const asked: Array<string> = [];
  const pays = (fees: ReadonlyArray<number>): Between => {
    const result = fees.map((prioritizationFee, slot) => ({ slot, prioritizationFee }));
    return ({ id, method }) => {
      if (method !== "getRecentPrioritizationFees") return Promise.resolve(undefined);
      asked.push(method);
      return Promise.resolve(JSON.stringify({ jsonrpc: "2.0", id, result }));
    };
  };
  const offeredAt = async (fees: ReadonlyArray<number>, fee?: string) => {
    cluster.setBetween(pays(fees));
    const { said, context: used } = await deploy(
      cluster.options(fee === undefined ? {} : { "priority-fee": fee }),
    );
    return [used.priorityFee, said.includes("recent blocks propose")];
  };
  expect(await offeredAt([0, 0, 700, 100])).toEqual([700n, true]);
  expect(await offeredAt([0, 0, 0, 0])).toEqual([0n, false]);
  expect(await offeredAt([])).toEqual([0n, false]);
  expect(await offeredAt([9_000_000])).toEqual([1_000_000n, true]);
  expect(asked).toHaveLength(4);
  expect(await offeredAt([700], "0")).toEqual([0n, false]);
  expect(asked).toHaveLength(4);
  cluster.setBetween(undefined);
}, 60_000);

test("no line of a cost is negative: what an earlier run paid too much is told apart", async () => {
  const { context } = await deploy(cluster.options());
  const binary = await programBinary("custody", "v3");
  const buffer = { lamports: 5n * SOL, elf: new Uint8Array(), authority: context.payer.address };
  const cost = await deployCost(context.rpc, {
    programs: [
      {
        name: "custody",
        state: { lamports: 0n, dataLamports: 0n, data: null, buffer } as unknown as ProgramState,
        choice: { accepted: [], candidates: [binary] },
        proposal: undefined,
      },
    ],
    configuration: { registry: null, config: null },
    mint: undefined,
    handsOver: false,
    givesAuthority: false,
    demo: 0n,
    priorityFee: 0n,
  });
  expect(cost.lines.every(({ lamports }) => lamports >= 0n)).toBe(true);
  expect(cost.total).toBeGreaterThan(0n);
  expect(cost.needed).toBeGreaterThan(cost.total);
  const back = cost.returned.map(({ what }) => what);
  expect(back).toEqual(["custody: the rest of a buffer comes back"]);
  expect(costText(cost)).not.toMatch(/-\d/);
}, 60_000);

test("what differs from the built files is upgraded, and the buffers' money comes back", async () => {
  const older = cluster.options({ sbpf: "v0", airdrop: true });
  const { said, deployment, context } = await deploy(older);
  expect(said).toContain("upgrade, with room for 10240 bytes more");
  expect(said).toContain("programs/custody.so");
  const before = cluster.balance(context.payer.address);
  const back = await deploy(cluster.options({ sbpf: "v3", airdrop: true }));
  expect(back.said).toContain("programs/custody.v3.so");
  // An upgrade to a smaller file costs fees alone: 51 writes, two buffers, two upgrades.
  const given = cluster.balance(context.payer.address) - before;
  const asked = /asking the faucet for (\d+)\.(\d{9}) SOL/.exec(back.said);
  const airdrop = asked === null ? 0n : BigInt(asked[1] ?? 0) * SOL + BigInt(asked[2] ?? 0);
  expect(airdrop - given).toBe(55n * 5000n);
  expect(cluster.buffers()).toEqual([]);
  expect((await deploy(cluster.options())).deployment).toEqual(deployment);
}, 60_000);

test("a deployment that is stopped after any transaction goes on, and forgets no lamport", async () => {
  const { payer, apart } = await payerApart("stopped");
  await cluster.give(payer.address, 2n * SOL);
  const options = () => cluster.options({ ...apart, "new-mint": true });
  // The ledger takes the last transaction, and the command never hears of it.
  const stopAfter = (sends: number): Between => {
    let sent = 0;
    return async ({ id, method }, forward) => {
      const refusal = refusing(id, -32_005, "x");
      if (sent > sends) return refusal;
      if (method !== "sendTransaction" || ++sent <= sends) return undefined;
      await forward();
      return refusal;
    };
  };
  let stops = 0;
  for (const sends of [0, 1, 1, 5, 8, 0, 3, 0, 0, 2, 9, 0, 0, 7, 12, 0, 0, 0, 0, 0]) {
    cluster.setBetween(stopAfter(sends));
    const ended = await deploy(options()).then(
      () => "done",
      (cause: unknown) => (cause as Error).name,
    );
    if (ended === "done") break;
    expect(ended).toBe("DeployStopped");
    stops++;
  }
  cluster.setBetween(undefined);
  expect(stops).toBeGreaterThan(10);
  const { deployment, mint } = await deploy(options());
  expect(cluster.buffers()).toEqual([]);
  const held = [
    ...[deployment.custodyProgram, deployment.attestorProgram].flatMap((program) => [
      program,
      programDataAddress(program),
    ]),
    custodyConfigAddress(deployment).address,
    registryAddress(deployment).address,
    mint,
  ].map((each) => cluster.balance(each));
  const deposits = held.reduce((sum, lamports) => sum + lamports, 0n);
  const gone = 2n * SOL - cluster.balance(payer.address);
  // Beside these deposits only fees: at most 120 signatures.
  expect(gone - deposits).toBeGreaterThan(0n);
  expect(gone - deposits).toBeLessThan(120n * 5000n);
}, 120_000);

test("where the loader refuses a file, the next one is deployed, and no buffer is left", async () => {
  const { context, deployment } = await deploy(cluster.options());
  const custody = await programBinary("custody", "v3");
  // The loader's verifier refuses the first, which is no program, and the second is taken.
  const elf = custody.elf.map((byte, i) => (i > 400 ? 0 : byte));
  const broken = { ...custody, file: "broken.so", elf, sha256: programHash(elf) };
  await cluster.give(context.payer.address, SOL);
  const target = { name: "custody", address: deployment.custodyProgram, key: undefined } as const;
  const said: Array<string> = [];
  const telling = { ...context, say: (line: string) => void said.push(line) };
  const older = await programBinary("custody", "v0");
  const placed = await placeProgram(telling, target, { accepted: [], candidates: [broken, older] });
  expect(placed.file).toBe("custody.so");
  expect(said.join("\n")).toContain("the loader refuses broken.so, trying custody.so");
  const place = programDataAddress(deployment.custodyProgram);
  const data = cluster.ledger.accounts.read(place, "processed");
  expect(data && decodeProgramDataAccount(data)?.elf[48]).toBe(0);
  expect(cluster.buffers()).toEqual([]);
}, 60_000);

test("lamports that a stranger sends to a buffer's address do not stop a deployment", async () => {
  const { payer, apart } = await payerApart("watched");
  await cluster.give(payer.address, 2n * SOL);
  await cluster.give(bufferAddress(payer.address, "attestor"), SOL);
  const { said } = await deploy(cluster.options({ ...apart, "new-mint": true }));
  expect(said).toContain("deployed and initialised");
  expect(cluster.buffers()).toEqual([]);
}, 60_000);

test("the admin's office goes to the file that --admin names, or is proposed to an address", async () => {
  const admin = await cluster.keyFile("admin.json");
  const proposed = await deploy(cluster.options({ admin: admin.address }));
  expect(proposed.said).toContain(`admin ${admin.address} is proposed`);
  const { context, deployment } = await deploy(cluster.options({ admin: admin.path }));
  const { registry } = await readConfiguration(context, deployment);
  expect(registry?.admin).toBe(admin.address);
  const unasked = cluster.options({ admin: context.payer.address });
  expect(await refusalOf(() => deploy(unasked))).toContain(`registry's admin is ${admin.address}`);
}, 60_000);

/** Answers for the accounts of feature gates, as a cluster with other gates would. */
const gates =
  (active: { readonly v3: boolean; readonly noV0: boolean }): Between =>
  async ({ id, method }, forward) => {
    if (method !== "getMultipleAccounts") return undefined;
    const body = JSON.parse(await forward()) as { result: { value: ReadonlyArray<unknown> } };
    if (body.result.value.length !== 2) return JSON.stringify(body);
    const account = (on: boolean) =>
      on
        ? {
            data: [Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 0]).toString("base64"), "base64"],
            executable: false,
            lamports: 1,
            owner: "Feature111111111111111111111111111111111111",
            rentEpoch: 0,
            space: 9,
          }
        : null;
    const value = [account(active.v3), account(active.noV0)];
    return JSON.stringify({ jsonrpc: "2.0", id, result: { context: { slot: 1 }, value } });
  };

test("the gates decide which version is deployed", async () => {
  const versionsSaid = async (v3: boolean, noV0: boolean): Promise<string> => {
    cluster.setBetween(gates({ v3, noV0 }));
    // Without a mint it stops right behind the gates.
    const said: Array<string> = [];
    const options = cluster.options({ keys: cluster.path("gate-keys") });
    const refusal = await refusalOf(() =>
      runDeploy(options, { say: (line) => void said.push(line), ask: null }),
    );
    cluster.setBetween(undefined);
    return said.find((line) => line.includes("SBPF")) ?? refusal;
  };
  expect(await versionsSaid(true, false)).toBe("its loader takes SBPF v3 and v0");
  expect(await versionsSaid(true, true)).toBe("its loader takes SBPF v3");
  expect(await versionsSaid(false, false)).toBe("its loader takes SBPF v0");
  expect(await versionsSaid(false, true)).toContain("takes neither SBPF v3");
}, 60_000);

/** Each must end with its one line, one after the other. */
type Wrong = readonly [changes: Parameters<EmptyCluster["options"]>[0], line: RegExp];

test("each wrong input is one line that names the mistake and its cure", async () => {
  const run = (changes: Wrong[0]) => refusalOf(() => deploy(cluster.options(changes)));
  const requireEach = async (...wrongs: ReadonlyArray<Wrong>): Promise<void> => {
    for (const [changes, line] of wrongs) expect(await run(changes)).toMatch(line);
  };
  const { payer: key, apart: fresh } = await payerApart("poor");
  const open = await cluster.keyFile("open.json", 0o644);
  const text = await Bun.file(key.path).text();
  const leaked = await run({ "payer-key": text });
  expect(leaked).toMatch(/^64: --payer-key: this is a key itself/);
  expect(leaked).not.toContain(text.slice(1, 20));
  const nonsense = cluster.path("nonsense.json");
  await Bun.write(nonsense, "hello");
  await chmod(nonsense, 0o600);
  const serve = (fetch: (request: Request) => Response | Promise<Response>) =>
    Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
  const other = serve(() => new Response("hello"));
  const elsewhere = serve(async (request) => {
    const { id, method } = (await request.json()) as { id: unknown; method: string };
    const result = method === "getVersion" ? { "solana-core": "3.0.0" } : key.address;
    return Response.json({ jsonrpc: "2.0", id, result });
  });
  await requireEach(
    [{ "payer-key": cluster.path("none.json") }, /^66: --payer-key: .* no such file; make one/],
    [{ "payer-key": open.path }, /^66: --payer-key: .*mode is 644.*chmod 600/],
    [{ "payer-key": nonsense }, /^66: .* holds no key/],
    [{ "payer-key": key.address }, /^66: .* is an address; name the file/],
    [{ rpc: "api.devnet.solana.com" }, /^64: --rpc: expected the http/],
    [
      { rpc: "http://127.0.0.1:1/?api-key=secret" },
      /^69: --rpc: no node answers at http:\/\/127\.0\.0\.1:1 \(.*\); check the address/,
    ],
    [{ rpc: other.url.href }, /^69: .* not as a Solana node/],
    [{ "second-rpc": "nowhere" }, /^64: --second-rpc: expected the http/],
    [
      { "second-rpc": elsewhere.url.href },
      /^1: --second-rpc: .* serves the ledger of genesis .*; name two nodes of one cluster/,
    ],
  );
  await Promise.all([other.stop(true), elsewhere.stop(true)]);
  cluster.setBetween(({ id, method }) =>
    Promise.resolve(method === "getVersion" ? refusing(id, -32_601, "no") : undefined),
  );
  expect(await run({})).toMatch(/^69: .* not as a Solana node \(it refuses getVersion/);
  cluster.setBetween(undefined);

  await requireEach(
    [fresh, /^64: --mint ADDRESS or --new-mint is missing/],
    [{ ...fresh, mint: "So1" }, /^64: --mint: "So1" is no address/],
    [{ ...fresh, mint: key.address }, /^1: --mint: .* is no mint .*\(nothing is there\)/],
    [
      { ...fresh, "new-mint": true },
      /^1: --payer-key: .* has 0 lamports and needs \d+; \d+ lamports \(0\.\d{9} SOL\) are missing/,
    ],
  );
  await cluster.give(key.address, SOL);
  expect(await run({ ...fresh, "new-mint": true, yes: false })).toMatch(/^2: nobody can agree/);
  expect(cluster.balance(key.address)).toBe(SOL);

  const { deployment } = await deploy(cluster.options());
  const [custody, attestor] = [deployment.custodyProgram, deployment.attestorProgram];
  const TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
  await requireEach(
    [{ ...fresh, custody: TOKEN, attestor }, /^1: custody: .* can be upgraded by nobody any more/],
    [{ ...fresh, custody }, /^64: --custody and --attestor: give both/],
    [{ mint: key.address }, /^1: --mint:/],
    [{ sbpf: "v9" }, /^64: --sbpf: expected v3 or v0/],
    ...["", "-1", "1.5", "fast", "100000001"].map((price): Wrong => [
      { "priority-fee": price },
      /^64: --priority-fee: expected micro-lamports for each compute unit, a whole number from 0 to 100000000$/,
    ]),
  );
}, 60_000);
