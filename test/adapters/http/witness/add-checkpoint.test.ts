import { expect, test } from "bun:test";
import { Effect } from "effect";
import fc from "fast-check";
import {
  ADD_CHECKPOINT_EXAMPLE,
  COSIGNATURE_EXAMPLE,
} from "../../../../adapters/http/witness/add-checkpoint.ts";
import {
  CheckpointRefused,
  LogSignatureInvalid,
  LogUnknown,
  type WitnessFailure,
  WitnessNotReady,
} from "../../../../core/use-cases/witness/witness-errors.ts";
import type { WitnessAnswer } from "../../../../core/use-cases/witness/witness.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { WitnessWorld } from "../../../core/use-cases/witness/support/witness-world.ts";
import { checkedClient, makeService, problemOf } from "../support/service.ts";

const PATH = "/witness/add-checkpoint";

const answering = async (answer: Effect.Effect<WitnessAnswer, WitnessFailure>) =>
  checkedClient(await makeService({ witness: { addCheckpoint: () => answer } }));

test("a cosigned checkpoint is answered with its signature line, whatever type the body is declared as", async () => {
  const { send } = await checkedClient(await makeService());
  for (const type of ["text/plain", "application/octet-stream"]) {
    const response = await send(PATH, {
      method: "POST",
      headers: { "content-type": type },
      body: ADD_CHECKPOINT_EXAMPLE,
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await response.text()).toBe(COSIGNATURE_EXAMPLE);
  }
});

test("a conflict is the size cosigned last, of the type of C2SP tlog-witness", async () => {
  const { send } = await answering(Effect.succeed({ kind: "conflict", size: 20_852_163 }));
  const response = await send(PATH, { method: "POST", body: "old 0\n" });
  expect(response.status).toBe(409);
  expect(response.headers.get("content-type")).toBe("text/x.tlog.size");
  expect(await response.text()).toBe("20852163\n");
});

test("each refusal has the status of C2SP tlog-witness, and waiting is told in seconds", async () => {
  const cases: ReadonlyArray<readonly [WitnessFailure, string]> = [
    [new LogUnknown({ detail: "it is unknown" }), "404 log_unknown"],
    [new LogSignatureInvalid(), "403 log_signature_invalid"],
    [new CheckpointRefused({ detail: "it differs" }), "422 checkpoint_refused"],
    [new WitnessNotReady({ lack: "node_behind", retrySeconds: 3 }), "503 witness_not_ready"],
  ];
  for (const [failure, expected] of cases) {
    const { send } = await answering(Effect.fail(failure));
    const response = await send(PATH, { method: "POST", body: "old 0\n" });
    expect(response.headers.get("retry-after")).toBe(expected.startsWith("503") ? "3" : null);
    expect(await problemOf(response)).toBe(expected);
  }
});

test("without a witness there is nothing at the path, and a body that is not UTF-8 or too long is refused", async () => {
  const none = await checkedClient(await makeService({ witness: { addCheckpoint: null } }));
  expect(await problemOf(await none.send(PATH, { method: "POST", body: "x" }))).toBe(
    "404 route_not_found",
  );
  const { send } = await checkedClient(await makeService());
  const bytes = await send(PATH, { method: "POST", body: Uint8Array.of(0xff, 0xfe) });
  expect(await problemOf(bytes)).toBe("400 checkpoint_malformed");
  const long = await send(PATH, { method: "POST", body: "a".repeat(262_145) });
  expect(await problemOf(long)).toBe("413 payload_too_large");
});

test("10,000 bodies of any bytes get no 500", async () => {
  const world = new WitnessWorld();
  world.grow(3);
  world.follow();
  const good = new TextEncoder().encode(world.log.offer(0, 4));
  const mangled = fc
    .tuple(fc.nat(good.length), fc.nat(4), fc.uint8Array({ maxLength: 4 }))
    .map(([at, cut, bytes]) =>
      Uint8Array.of(...good.slice(0, at), ...bytes, ...good.slice(at + cut)),
    );
  await world.run(
    Effect.gen(function* () {
      const addCheckpoint = yield* world.witness;
      const { app } = yield* Effect.promise(() => makeService({ witness: { addCheckpoint } }));
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(fc.oneof(mangled, fc.uint8Array()), async (body) => {
            const request = new Request(`http://localhost${PATH}`, {
              method: "POST",
              body: body.slice(),
            });
            expect((await app.handle(request)).status).toBeLessThan(500);
          }),
          runs(10_000),
        ),
      );
    }),
  );
}, 60_000);
