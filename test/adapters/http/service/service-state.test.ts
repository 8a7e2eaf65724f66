import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Context, Effect } from "effect";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { deployedProgramAccounts } from "../../../../core/protocol/accounts/loader-v3.ts";
import { type Hash32, hash32FromBytes, parseHash32 } from "../../../../core/domain/hash32.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { IndexSync, type SyncActivity } from "../../../../core/use-cases/index/sync/index-sync.ts";
import { LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { prepareRequestExample } from "../../../../adapters/http/escrow/prepare/prepared-escrow-contract.ts";
import { walletAccount } from "../../../doubles/accounts.ts";
import { forwardedClock } from "../../../doubles/forwarded-clock.ts";
import { transaction } from "../relay/relay-client.ts";
import { AGENT } from "../support/parties.ts";
import {
  checkedClient,
  dataOf,
  errorsOf,
  jsonOf,
  makeService,
  makeSyncedService,
  problemOf,
} from "../support/service.ts";

const clock = forwardedClock();
/** A reading of the ledger is kept for a second. */
const FRESH_MS = 1000;

/** Puts both programs on a service's ledger, with an ELF of 01 02 03 and room behind it. */
const deployPrograms = ({ ledger }: Pick<Awaited<ReturnType<typeof makeService>>, "ledger">) => {
  for (const program of [LOCAL_DEPLOYMENT.custodyProgram, LOCAL_DEPLOYMENT.attestorProgram])
    for (const account of deployedProgramAccounts(
      program,
      { slot: 1n, upgradeAuthority: AGENT, elf: Uint8Array.of(1, 2, 3, 0, 0) },
      () => 1n,
    ))
      ledger.accounts.set(account.address, account);
};

let service: Awaited<ReturnType<typeof makeService>>;
let client: Awaited<ReturnType<typeof checkedClient>>;

beforeAll(async () => {
  service = await makeService({ clock: clock.layer });
  client = await checkedClient(service);
  deployPrograms(service);
});
afterAll(() => service.runtime.dispose());

test("health asks nothing of the ledger", async () => {
  service.ledger.fault = "hangs";
  expect(await jsonOf(await client.send("/health"))).toMatchObject({
    status: "ok",
    service: "Settlement Evidence API",
  });
  service.ledger.fault = null;
});

describe("status", () => {
  test("is online when ledger, programs and store answer", async () => {
    expect(await dataOf(await client.send("/v1/status"))).toMatchObject({
      status: "online",
      network: { cluster: "localnet", slot: 1000, healthy: true },
      programs: {
        custody: {
          address: LOCAL_DEPLOYMENT.custodyProgram,
          deployed: true,
          executable: true,
          upgrade_authority: AGENT,
          // SHA-256 of 01 02 03
          sha256: "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81",
          sbpf_version: null,
          is_ours: false,
          initialised: true,
        },
      },
      relay: { status: "online" },
      indexer: { escrows: 0, last_synced_slot: null, running: false },
    });
  });

  test("is degraded, and still a 200 within a second, when the ledger hangs", async () => {
    const hanging = await makeService();
    hanging.ledger.fault = "hangs";
    const response = await (await checkedClient(hanging)).send("/v1/status");
    await hanging.runtime.dispose();
    expect(response.status).toBe(200);
    expect(await dataOf(response)).toMatchObject({
      status: "degraded",
      network: { slot: null, latency_ms: null, healthy: false },
      programs: { custody: { deployed: null, sha256: null } },
      relay: { status: "degraded" },
    });
  });
});

describe("ready", () => {
  test("is a 503 until the first sync, and so are the lists of the index", async () => {
    const early = await client.send("/ready");
    expect(await jsonOf(early)).toMatchObject({
      status: 503,
      code: "not_ready",
      errors: [{ pointer: "/index", detail: "has not been synced yet" }],
    });
    const lists = ["/v1/indexer", "/v1/indexer/events", "/v1/registry/merchants"];
    for (const path of lists)
      expect(await problemOf(await client.send(path))).toBe("503 not_ready");
    expect((await client.send("/v1/indexer/sync", { method: "POST" })).status).toBe(202);
    expect((await client.send("/ready")).status).toBe(200);
    for (const path of lists) expect((await client.send(path)).status).toBe(200);
  });

  test("names programs that are not initialised for each other, such as swapped ids", async () => {
    const { custodyProgram, attestorProgram } = LOCAL_DEPLOYMENT;
    const deployment = { custodyProgram: attestorProgram, attestorProgram: custodyProgram };
    const swapped = await makeService({ instance: { deployment } });
    const { send } = await checkedClient(swapped);
    expect(await errorsOf(await send("/ready"))).toContainEqual({
      pointer: "/programs",
      detail: "are not initialised for each other",
    });
    expect(await dataOf(await send("/v1/status"))).toMatchObject({
      status: "degraded",
      programs: { custody: { initialised: false }, attestor: { initialised: false } },
      relay: { status: "degraded" },
    });
    await swapped.runtime.dispose();
  });

  test("names the dependencies that do not answer", async () => {
    expect(await jsonOf(await client.send("/ready"))).toEqual({ status: "ready" });
    service.ledger.fault = new LedgerUnavailable({ retryable: true, cause: "down" });
    clock.forward(FRESH_MS);
    const response = await client.send("/ready");
    expect(await jsonOf(response)).toMatchObject({
      status: 503,
      code: "not_ready",
      errors: [{ pointer: "/ledger", detail: "does not answer" }],
    });
    service.ledger.fault = null;
  });

  test("reports a stale index in the body of a 200", async () => {
    const stale = await makeService({ clock: clock.layer });
    const { send } = await checkedClient(stale);
    const ready = async () => {
      clock.forward(FRESH_MS);
      return jsonOf(await send("/ready"));
    };
    const indexer = async () =>
      (await dataOf<{ readonly indexer: object }>(await send("/v1/status"))).indexer;
    const metric = async (name = "index_snapshot_failures") =>
      (await (await send("/metrics")).text()).match(new RegExp(`^\\w+_${name} (\\S+)$`, "m"))?.[1];
    const sync = Context.get(stale.context, IndexSync);
    const { activity } = sync;
    const say = (now: Partial<SyncActivity>) =>
      Object.assign(sync, { activity: Effect.map(activity, (was) => ({ ...was, ...now })) });
    // Before the first sync no index can be stale: it is not there.
    say({ lastError: "LedgerTimeout" });
    expect(await ready()).toMatchObject({ code: "not_ready", errors: [{ pointer: "/index" }] });
    say({});
    expect((await send("/v1/indexer/sync", { method: "POST" })).status).toBe(202);
    expect(await ready()).toEqual({ status: "ready" });
    expect(await metric()).toBe("0");

    say({ snapshotError: "LedgerUnavailable", snapshotFailures: 3 });
    expect(await ready()).toEqual({
      status: "ready",
      index: {
        status: "stale",
        lag_slots: 0,
        last_error: null,
        snapshot_error: "ledger_unavailable",
      },
    });
    expect(await indexer()).toMatchObject({
      status: "degraded",
      last_error: null,
      snapshot_error: "ledger_unavailable",
    });
    expect(await metric()).toBe("3");

    say({
      contradiction: {
        kind: "another_history",
        index: { count: 3n, root: hash32FromBytes(new Uint8Array(32).fill(1)) },
        ledger: { count: 4n, root: hash32FromBytes(new Uint8Array(32).fill(2)) },
        firstDifference: { from: 1n, to: 3n },
      },
    });
    expect(await indexer()).toMatchObject({
      status: "degraded",
      contradiction: {
        kind: "another_history",
        index: { count: "3", root: "01".repeat(32) },
        ledger: { count: "4", root: "02".repeat(32) },
        first_difference: { from: "1", to: "3" },
      },
    });
    expect(await metric("index_history_contradicted")).toBe("1");

    say({ lastError: "InternalError", contradiction: null });
    expect(await ready()).toMatchObject({
      index: { last_error: "internal_error", snapshot_error: null },
    });
    say({});
    stale.ledger.slot += 749n;
    expect(await ready()).toEqual({ status: "ready" });
    stale.ledger.slot += 1n;
    expect(await ready()).toMatchObject({ status: "ready", index: { lag_slots: 750 } });
    await stale.runtime.dispose();
  });

  test("is a 503 once the instance drains, and answers close their connections", async () => {
    const draining = await makeService();
    const { send } = await checkedClient(draining);
    expect((await send("/health")).headers.get("connection")).toBeNull();
    draining.app.drain();
    expect(await problemOf(await send("/ready"))).toBe("503 shutting_down");
    const health = await send("/health");
    expect([health.status, health.headers.get("connection")]).toEqual([200, "close"]);
    await draining.runtime.dispose();
  });
});

describe("the descriptor", () => {
  test("has the members of the specification, at both of its paths", async () => {
    const descriptor = await jsonOf(await client.send("/.well-known/settlement-evidence.json"));
    expect(descriptor).toMatchObject({
      name: "Settlement Evidence API",
      status: "online",
      role: "public relay, indexer, and protocol API surface",
      phase: "devnet headless API",
      network: "http://127.0.0.1:8899",
      programs: {
        custody: LOCAL_DEPLOYMENT.custodyProgram,
        attestor: LOCAL_DEPLOYMENT.attestorProgram,
      },
      primary_wedge: "api_data_commerce",
      mainnet_beta_limits: {
        status: "planned_limited_beta",
        first_wedge: "api_data_commerce",
        max_escrow_usdc: "100.00",
        max_ttl_seconds: 86_400,
        supported_assets: ["USDC"],
        required_controls: [
          "external_contract_review",
          "merchant_allowlist",
          "evidence_signing_key",
          "rate_limited_public_relay",
          "upgrade_authority_policy",
        ],
      },
      links: { site: "http://localhost/", docs: "http://localhost/docs" },
    });
    expect(await jsonOf(await client.send("/"))).toEqual(descriptor);
  });

  test("every endpoint it names is there", async () => {
    const { endpoints } = await jsonOf<{ readonly endpoints: Readonly<Record<string, string>> }>(
      await client.send("/"),
    );
    expect(Object.keys(endpoints).length).toBe(16);
    for (const named of Object.values(endpoints)) {
      const [method, path] = named.startsWith("/") ? ["GET", named] : named.split(" ");
      const template = service.app.operations.find(
        (operation) => operation.path === path && operation.method === method,
      );
      expect(template, named).toBeDefined();
    }
  });

  test("links begin with the address that a trusted proxy forwards", async () => {
    const behind = await makeService({ trustedProxies: ["10.0.0.0/8"] });
    const request = new Request("http://inner:3000/", {
      headers: { "x-forwarded-proto": "https", "x-forwarded-host": "evidence.example" },
    });
    const connection = { address: "10.1.1.1", allowSeconds: () => undefined };
    expect(await jsonOf(await behind.app.handle(request, connection))).toMatchObject({
      links: {
        site: "https://evidence.example/",
        docs: "https://evidence.example/docs",
        demo: "https://evidence.example/#demo",
        api: "https://evidence.example/v1",
      },
    });
    await behind.runtime.dispose();
  });
});

test("the version names contract and evidence format", async () => {
  expect(await dataOf(await client.send("/v1"))).toMatchObject({
    contract_version: "1.0.0-devnet",
    evidence_format: "settlement-evidence-v2",
  });
});

describe("proof templates", () => {
  type Template = { readonly id: string; readonly wedge: string };
  const list = async (query = "") =>
    dataOf<ReadonlyArray<Template>>(await client.send(`/v1/proof-templates${query}`));

  test("API and data come first, and a wedge narrows the list", async () => {
    const all = await list();
    expect(all[0]).toMatchObject({ id: "api-delivered-v1", wedge: "api-data", category: "api" });
    const wedges = new Set((await list("?wedge=api-data")).map(({ wedge }) => wedge));
    expect([...wedges]).toEqual(["api-data"]);
    expect(await list("?wedge=nothing")).toEqual([]);
  });

  test("each is found by its id, and an unknown id is a 404", async () => {
    for (const template of await list())
      expect(await dataOf(await client.send(`/v1/proof-templates/${template.id}`))).toEqual(
        template as never,
      );
    expect(await problemOf(await client.send("/v1/proof-templates/nothing"))).toBe(
      "404 proof_template_not_found",
    );
  });
});

describe("a service that pins its programs", () => {
  /** SHA-256 of 01 02 03, which both programs have here. */
  const THERE = parseHash32("039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81");
  const OTHER = parseHash32("ab".repeat(32));
  if (THERE === undefined || OTHER === undefined) throw new Error("no hash");
  const pinned = async (custody: ReadonlyArray<Hash32>) => {
    const made = await makeSyncedService({
      clock: clock.layer,
      instance: { programPins: { custody, attestor: [THERE] } },
    });
    deployPrograms(made);
    made.ledger.reset();
    made.ledger.accounts.set(AGENT, walletAccount(AGENT, 1_000_000_000n));
    return { ...made, ...(await checkedClient(made)) };
  };
  const prepare = "/v1/merchants/prepare";
  const call = { merchant: AGENT, name: "Shop", attestor: AGENT, payer: AGENT };

  test("is ready, prepares and relays while their bytes have a hash of its list", async () => {
    const service = await pinned([OTHER, THERE]);
    expect((await service.send("/ready")).status).toBe(200);
    expect(await dataOf(await service.send("/v1/status"))).toMatchObject({
      status: "online",
      programs: { custody: { pinned_sha256: [OTHER, THERE], is_pinned: true } },
    });
    expect((await service.postJson(prepare, call)).status).toBe(200);
    expect((await service.postJson("/v1/escrows/prepare", prepareRequestExample())).status).toBe(
      200,
    );
    const signed_transaction = encodeBase64(transaction());
    expect((await service.postJson("/v1/relay", { signed_transaction })).status).toBe(202);
    await service.runtime.dispose();
  });

  test("is not ready, and neither prepares nor relays, while they have another", async () => {
    const service = await pinned([OTHER]);
    expect(await errorsOf(await service.send("/ready"))).toEqual([
      {
        pointer: "/pins",
        detail:
          "do not have the programs' bytes on the ledger: compare sha256 and pinned_sha256 in /v1/status; where the upgrade is wanted, add its hash to CUSTODY_PROGRAM_SHA256 or ATTESTOR_PROGRAM_SHA256",
      },
    ]);
    expect(await dataOf(await service.send("/v1/status"))).toMatchObject({
      status: "degraded",
      programs: {
        custody: { sha256: THERE, pinned_sha256: [OTHER], is_pinned: false },
        attestor: { is_pinned: true },
      },
      relay: { status: "degraded" },
    });
    const problem = {
      status: 502,
      code: "ledger_unavailable",
      detail: expect.stringContaining("program not pinned") as string,
      cure: expect.stringContaining("CUSTODY_PROGRAM_SHA256") as string,
    };
    const payment = prepareRequestExample();
    for (const query of ["", "?transaction=true"])
      for (const [path, body] of [
        [prepare, call],
        ["/v1/escrows/prepare", payment],
      ] as const)
        expect(await jsonOf(await service.postJson(`${path}${query}`, body))).toMatchObject(
          problem,
        );
    const signed_transaction = encodeBase64(transaction());
    expect(await jsonOf(await service.postJson("/v1/relay", { signed_transaction }))).toMatchObject(
      problem,
    );
    expect(service.ledger.submitted).toEqual([]);
    await service.runtime.dispose();
  });
});
