import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { Broadcaster } from "../../../../ports/ledger/broadcaster.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { configOver, failureOf, runOver, valueOf } from "../ledger-under-test.ts";
import { atSlot, type Behaviour, page, peersOfTests, result, rpcError } from "../scripted-peer.ts";

const peerThat = peersOfTests();

const SIGNATURE = ledgerSignatureFromBytes(new Uint8Array(64).fill(7));
const BYTES = Uint8Array.of(1, 2, 3);
const plain = (kind: string) => ({
  kind,
  instructionIndex: null,
  instructionError: null,
  customCode: null,
});

/** The result of one call at a peer with this behaviour, and the requests that the peer got. */
const use = async <A, E>(
  behaviours: ReadonlyArray<Behaviour>,
  call: (broadcaster: Broadcaster["Service"]) => Effect.Effect<A, E>,
) => {
  const peer = peerThat(...behaviours);
  const { exit } = await runOver(configOver([peer]), Broadcaster.use(call));
  return { exit, calls: peer.calls };
};

/** The genesis hash that nodes of one ledger show first. */
const GENESIS = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY";

const submit = (...behaviours: ReadonlyArray<Behaviour>) =>
  use(behaviours, (broadcaster) => broadcaster.submit(BYTES));
const simulate = (...behaviours: ReadonlyArray<Behaviour>) =>
  use(behaviours, (broadcaster) => broadcaster.simulate(BYTES));
const landed = (...behaviours: ReadonlyArray<Behaviour>) =>
  use(behaviours, (broadcaster) => broadcaster.landed(SIGNATURE));
const shown = (...behaviours: ReadonlyArray<Behaviour>) =>
  use(behaviours, (broadcaster) => broadcaster.shown(SIGNATURE));
const ask = (value: unknown) =>
  use([atSlot(3, value)], (broadcaster) => broadcaster.isBlockhashValid("hash"));

const status = { slot: 5, confirmations: 3, err: null, status: { Ok: null } };

describe("submit", () => {
  test("sends the bytes once, without preflight and without the node's own retries", async () => {
    const { exit, calls } = await submit(result(SIGNATURE));
    expect(valueOf(exit)).toBeUndefined();
    expect(calls).toMatchObject([
      {
        method: "sendTransaction",
        params: ["AQID", { encoding: "base64", skipPreflight: true, maxRetries: 0 }],
      },
    ]);
  });

  test("asks again after a node breaks off, and 'already processed' is success", async () => {
    const { exit, calls } = await submit(page(502), rpcError(-32002, { err: "AlreadyProcessed" }));
    expect(valueOf(exit)).toBeUndefined();
    expect(calls).toHaveLength(2);
  });

  test.each([
    [-32002, { err: "BlockhashNotFound", logs: [] }, plain("BlockhashNotFound"), []],
    [
      -32002,
      { err: { InstructionError: [1, { Custom: 6100 }] }, logs: ["Program log: a"] },
      {
        kind: "InstructionError",
        instructionIndex: 1,
        instructionError: "Custom",
        customCode: 6100,
      },
      ["Program log: a"],
    ],
    [-32002, { err: 7, logs: "no" }, null, []],
    [-32002, undefined, null, []],
    [-32003, undefined, plain("SignatureFailure"), []],
    [-32013, undefined, plain("SanitizeFailure"), []],
    [-32015, undefined, plain("UnsupportedVersion"), []],
    [-32602, undefined, plain("SanitizeFailure"), []],
    [-32006, undefined, null, []],
  ])("error %d with data %j is a refusal", async (code, data, error, logs) => {
    const { exit, calls } = await submit(rpcError(code, data));
    expect(failureOf(exit)).toMatchObject({ _tag: "SubmissionRefused", error, logs });
    expect(calls).toHaveLength(1);
  });

  test("goes to every node, and succeeds when one accepts", async () => {
    const told = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const telling =
      (i: 0 | 1, then: Behaviour): Behaviour =>
      (call, request) => {
        told[i].resolve();
        return then(call, request);
      };
    // Answers only once both others have the transaction too.
    const taking: Behaviour = async (call, request) => {
      await Promise.all(told.map(({ promise }) => promise));
      return result(SIGNATURE)(call, request);
    };
    const peers = [
      peerThat(result(GENESIS), telling(0, page(502))),
      peerThat(result(GENESIS), taking),
      peerThat(result(GENESIS), telling(1, rpcError(-32002))),
    ] as const;
    const { exit } = await runOver(
      configOver(peers, { attemptsPerNode: 1 }),
      Broadcaster.use((broadcaster) => broadcaster.submit(BYTES)),
    );
    expect(valueOf(exit)).toBeUndefined();
    for (const { calls } of peers)
      expect(calls).toMatchObject([{ method: "getGenesisHash" }, { method: "sendTransaction" }]);
  });

  test("reports a node that refuses rather than one that is down", async () => {
    const down = peerThat(result(GENESIS), page(502));
    const refusing = peerThat(result(GENESIS), rpcError(-32003));
    const { exit } = await runOver(
      configOver([down, refusing], { attemptsPerNode: 1 }),
      Broadcaster.use((broadcaster) => broadcaster.submit(BYTES)),
    );
    expect(failureOf(exit)).toMatchObject({ _tag: "SubmissionRefused" });
  });

  test("takes an answer without a signature for no answer", async () => {
    const { exit } = await submit(result("sent"));
    expect(failureOf(exit)).toMatchObject({ cause: { kind: "malformed" } });
  });
});

describe("simulate", () => {
  test("runs the transaction unchanged, with signatures checked and blockhash kept", async () => {
    const { exit, calls } = await simulate(
      atSlot(12, { err: null, logs: ["Program log: a"], unitsConsumed: 1 }),
    );
    expect(valueOf(exit)).toEqual({ slot: 12n, error: null, logs: ["Program log: a"] });
    expect(calls).toMatchObject([
      {
        method: "simulateTransaction",
        params: [
          "AQID",
          {
            encoding: "base64",
            sigVerify: true,
            replaceRecentBlockhash: false,
            commitment: "confirmed",
          },
        ],
      },
    ]);
  });

  test("a slot ahead of the confirmed one does not raise the slot of later reads", async () => {
    const peer = peerThat(atSlot(12, { err: null, logs: [] }), atSlot(11, []));
    const { exit } = await runOver(
      configOver([peer]),
      Effect.gen(function* () {
        yield* (yield* Broadcaster).simulate(BYTES);
        return yield* (yield* Ledger).readAccounts([], "confirmed");
      }),
    );
    expect(valueOf(exit).slot).toBe(11n);
  });

  test("a failing transaction is an answer, not a failure", async () => {
    const { exit } = await simulate(atSlot(12, { err: "AccountNotFound", logs: null }));
    expect(valueOf(exit)).toEqual({ slot: 12n, error: plain("AccountNotFound"), logs: [] });
  });

  test("a transaction that the node cannot verify is a failed simulation", async () => {
    const { exit } = await simulate(rpcError(-32003));
    expect(valueOf(exit)).toMatchObject({ error: plain("SignatureFailure"), logs: [] });
  });

  test.each([
    [{ err: { Odd: 1, Odder: 2 }, logs: [] }],
    [{ logs: [] }],
    [{ err: null }],
    [{ err: null, logs: [1] }],
  ])("%j is no answer", async (value) => {
    const { exit } = await simulate(atSlot(12, value));
    expect(failureOf(exit)).toMatchObject({ cause: { kind: "malformed" } });
  });
});

describe("landed", () => {
  test.each([
    [{ ...status, confirmationStatus: "processed" }, "processed", null],
    [{ ...status, confirmationStatus: "confirmed" }, "confirmed", null],
    [{ ...status, confirmations: null, confirmationStatus: "finalized" }, "finalized", null],
    [{ ...status, confirmations: null }, "finalized", null],
    [status, "confirmed", null],
    [{ ...status, confirmations: 0, confirmationStatus: null }, "processed", null],
    [
      { ...status, err: "AccountInUse", confirmationStatus: "confirmed" },
      "confirmed",
      plain("AccountInUse"),
    ],
  ])("%j", async (value, commitment, error) => {
    const { exit, calls } = await landed(atSlot(9, [value]));
    expect(valueOf(exit)).toEqual({ slot: 5n, commitment, error } as never);
    expect(calls).toMatchObject([
      {
        method: "getSignatureStatuses",
        params: [[SIGNATURE], { searchTransactionHistory: true }],
      },
    ]);
  });

  test("a transaction that the history does not know is null", async () => {
    const { exit } = await landed(atSlot(9, [null]));
    expect(valueOf(exit)).toBeNull();
  });

  test("one and the same node searches its history and says how far back it goes", async () => {
    const known = { ...status, confirmationStatus: "finalized" };
    // The first node has pruned what the second still has. The first one's silence must not be combined with the second
    // one's range.
    const pruned = peerThat(result(GENESIS), atSlot(9, [null]), page(429));
    const archive = peerThat(result(GENESIS), atSlot(9, [known]), result(0));
    const { exit } = await runOver(
      configOver([pruned, archive]),
      Broadcaster.use((broadcaster) => broadcaster.searchAll([SIGNATURE])),
    );
    expect(valueOf(exit)).toEqual({
      landed: [{ slot: 5n, commitment: "finalized", error: null }],
      completeFrom: 0n,
    });
    expect(archive.calls.map(({ method }) => method)).toEqual([
      "getGenesisHash",
      "getSignatureStatuses",
      "getFirstAvailableBlock",
    ]);
  });

  test("a lagging node is not believed when it does not know a transaction", async () => {
    const known = { ...status, confirmationStatus: "confirmed" };
    const peer = peerThat(atSlot(100, []), atSlot(90, [null]), atSlot(101, [known]));
    const { exit } = await runOver(
      configOver([peer]),
      Effect.gen(function* () {
        const broadcaster = yield* Broadcaster;
        yield* (yield* Ledger).readAccounts([], "confirmed");
        return yield* broadcaster.landed(SIGNATURE);
      }),
    );
    expect(valueOf(exit)).toEqual({ slot: 5n, commitment: "confirmed", error: null });
  });

  test.each([
    [[]],
    [[null, null]],
    [null],
    [[{ ...status, confirmationStatus: "rooted" }]],
    [[{ ...status, slot: null }]],
    [[{ ...status, err: 3 }]],
  ])("%j is no answer", async (value) => {
    const { exit } = await landed(atSlot(9, value));
    expect(failureOf(exit)).toMatchObject({ cause: { kind: "malformed" } });
  });
});

describe("shown", () => {
  const succeeded = { slot: 1n, error: null, logs: [], program: null };
  test.each([
    [
      { slot: 1, meta: { err: null, logMessages: ["a", "b"] } },
      { ...succeeded, logs: ["a", "b"] },
    ],
    [{ slot: 1, meta: { err: null, logMessages: null } }, succeeded],
    [{ slot: 1, meta: { err: null } }, succeeded],
    [
      { slot: 1, meta: { err: "AccountInUse" } },
      { ...succeeded, error: plain("AccountInUse") },
    ],
    [{ slot: 1, meta: null }, null],
    [null, null],
  ])("of %j", async (value, transaction) => {
    const { exit, calls } = await shown(result(value));
    expect(valueOf(exit)).toEqual(transaction);
    expect(calls).toMatchObject([
      {
        method: "getTransaction",
        params: [
          SIGNATURE,
          { commitment: "confirmed", encoding: "base64", maxSupportedTransactionVersion: 0 },
        ],
      },
    ]);
  });

  test.each([[{ slot: 1 }], [{ slot: 1, meta: {} }], [{ slot: 1, meta: { err: 7 } }]])(
    "%j is a malformed answer",
    async (value) => {
      const { exit } = await shown(result(value));
      expect(failureOf(exit)).toMatchObject({ cause: { kind: "malformed" } });
    },
  );
});

describe("fee and blockhash", () => {
  test("fees are lamports, or null for an unknown blockhash", async () => {
    const known = await use([atSlot(3, 5000)], (broadcaster) => broadcaster.fee(BYTES));
    const unknown = await use([atSlot(3, null)], (broadcaster) => broadcaster.fee(BYTES));
    const odd = await use([atSlot(3, "5000")], (broadcaster) => broadcaster.fee(BYTES));
    expect([valueOf(known.exit), valueOf(unknown.exit)]).toEqual([5000n, null]);
    expect(failureOf(odd.exit)).toMatchObject({ cause: { kind: "malformed" } });
    expect(known.calls).toMatchObject([
      { method: "getFeeForMessage", params: ["AQID", { commitment: "confirmed" }] },
    ]);
  });

  test("a blockhash is valid or not, and nothing else", async () => {
    expect(valueOf((await ask(true)).exit)).toBe(true);
    expect(valueOf((await ask(false)).exit)).toBe(false);
    expect(failureOf((await ask(null)).exit)).toMatchObject({ cause: { kind: "malformed" } });
  });
});
