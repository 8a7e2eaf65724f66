import { describe, expect, test } from "bun:test";
import { Context, Effect } from "effect";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { deployedProgramAccounts } from "../../../../core/protocol/accounts/loader-v3.ts";
import { type Hash32, hash32FromBytes, parseHash32 } from "../../../../core/domain/hash32.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { IndexSync, type SyncActivity } from "../../../../core/use-cases/index/sync/index-sync.ts";
import { prepareRequestExample } from "../../../../adapters/http/escrow/prepare/prepared-escrow-contract.ts";
import { NOT_READY } from "../../../../adapters/http/problems/not-ready.ts";
import { address } from "../../../../core/domain/address.ts";
import { SYSTEM_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { LedgerPulse } from "../../../../core/use-cases/service/ledger-pulse.ts";
import { RelayDelivery } from "../../../../core/use-cases/relay/relay-delivery.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { ownAccounts } from "../../../../core/use-cases/service/program-status.ts";
import { custodyConfigAccount } from "../../../doubles/custody-config.ts";
import { accountOf, walletAccount } from "../../../doubles/accounts.ts";
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
} from "../support/service.ts";
import { standing } from "../support/standing-service.ts";

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
      ledger.put(account);
};

const { service, client } = await standing(makeService({ clock: clock.layer }));
deployPrograms(service);

test("the relay is degraded while nothing can be recorded", async () => {
  const refusing = await makeService();
  deployPrograms(refusing);
  const { send } = await checkedClient(refusing);
  const relay = async () =>
    (await dataOf<{ readonly relay: object }>(await send("/v1/status"))).relay;
  expect(await relay()).toEqual({ status: "online" });
  const unrecorded = Effect.succeed(new StoreUnavailable({ retryable: true, cause: "full" }));
  Object.assign(Context.get(refusing.context, RelayDelivery), { unrecorded });
  expect(await relay()).toEqual({ status: "degraded" });
  await refusing.runtime.dispose();
});

test("a store that fails has an error in the status, and one that is slow is not known", async () => {
  const away = await makeSyncedService();
  deployPrograms(away);
  const { send } = await checkedClient(away);
  const store = Context.get(away.context, IndexReader);
  const { summary } = store;
  const indexer = async (told: typeof store.summary) => {
    Object.assign(store, { summary: told });
    return (await dataOf<{ readonly indexer: object }>(await send("/v1/status"))).indexer;
  };
  const unknown = { status: "degraded", count: null };
  const failure = new StoreUnavailable({ retryable: true, cause: "gone" });
  expect(await indexer(Effect.fail(failure))).toMatchObject({
    ...unknown,
    last_error: "store_unavailable",
  });
  expect(await indexer(Effect.never)).toMatchObject({ ...unknown, last_error: null });
  // What cures a node cures no store.
  const cure = "Put another node there.";
  const down = Effect.fail({ _tag: "LedgerUnavailable", fault: { cure } });
  Object.assign(Context.get(away.context, LedgerPulse), { tip: () => down });
  const answer = await send("/ready");
  expect((await errorsOf(answer.clone())).map(({ pointer }) => pointer)).toEqual([
    "/store",
    "/ledger",
  ]);
  expect((await jsonOf<{ readonly cure: string }>(answer)).cure).toBe(NOT_READY.store.cure);
  Object.assign(store, { summary });
  expect(await jsonOf(await send("/ready"))).toMatchObject({ cure });
  await away.runtime.dispose();
});

describe("ready", () => {
  test("names programs that are not initialised for each other, such as swapped ids", async () => {
    const { custodyProgram, attestorProgram } = LOCAL_DEPLOYMENT;
    const deployment = { custodyProgram: attestorProgram, attestorProgram: custodyProgram };
    const swapped = await makeService({ instance: { deployment } });
    const { send } = await checkedClient(swapped);
    expect(await errorsOf(await send("/ready"))).toContainEqual({
      pointer: "/programs",
      detail: "The programs are not initialised for each other",
    });
    expect(await dataOf(await send("/v1/status"))).toMatchObject({
      status: "degraded",
      programs: { custody: { initialised: false }, attestor: { initialised: false } },
      relay: { status: "degraded" },
    });
    await swapped.runtime.dispose();
  });

  test("an emptied ledger is not that of the index, and nobody is told to initialise it", async () => {
    const emptied = await makeSyncedService();
    for (const account of ownAccounts(LOCAL_DEPLOYMENT))
      emptied.ledger.put(accountOf(account, SYSTEM_PROGRAM, new Uint8Array()));
    const { send, postJson } = await checkedClient(emptied);
    expect((await errorsOf(await send("/ready"))).map(({ pointer }) => pointer)).toEqual([
      "/identity",
    ]);
    const answers = [
      await postJson("/v1/merchants/prepare", { merchant: AGENT, attestor: AGENT, name: "New" }),
      await postJson("/v1/escrows/prepare?preflight=true", prepareRequestExample()),
    ];
    for (const answer of answers)
      expect(await jsonOf(answer)).toMatchObject({
        status: 502,
        code: "ledger_unavailable",
        reason: "contradicts_index",
      });
    await emptied.runtime.dispose();
  });

  test("names a custody configuration that was made for another ledger, and the status is degraded", async () => {
    const other = await makeService();
    deployPrograms(other);
    const genesisHash = address("EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG");
    other.ledger.put(custodyConfigAccount(LOCAL_DEPLOYMENT, { count: 0n }, genesisHash));
    const { send } = await checkedClient(other);
    expect((await errorsOf(await send("/ready"))).map(({ pointer }) => pointer)).toContain(
      "/domain",
    );
    expect(await dataOf(await send("/v1/status"))).toMatchObject({
      status: "degraded",
      programs: { custody: { initialised: false }, attestor: { initialised: true } },
      relay: { status: "degraded" },
    });
    await other.runtime.dispose();
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

    expect(await indexer()).toMatchObject({ signals: null });
    expect(await metric("ledger_signals_live")).toBe("NaN");
    say({ signals: { isLive: false, isSilent: false, failures: 4 } });
    expect(await indexer()).toMatchObject({ status: "online", signals: "lost" });
    expect(await metric("ledger_signals_live")).toBe("0");
    expect(await metric("ledger_signals_failures")).toBe("4");
    expect(await metric("ledger_signals_silent")).toBe("0");
    say({ signals: { isLive: true, isSilent: true, failures: 0 } });
    expect(await indexer()).toMatchObject({ signals: "silent" });
    expect(await metric("ledger_signals_silent")).toBe("1");

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
});

describe("the descriptor", () => {
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
    made.ledger.put(walletAccount(AGENT, 1_000_000_000n));
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
        detail: "The programs' bytes on the ledger are not those that the operator pins",
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
