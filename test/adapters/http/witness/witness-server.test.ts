import { expect, test } from "bun:test";
import { Effect } from "effect";
import { witnessHandler } from "../../../../adapters/http/witness/witness-server.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { WitnessWorld } from "../../../core/use-cases/witness/support/witness-world.ts";

const URL_OF_WITNESS = "http://localhost/witness/add-checkpoint";

/** Status, media type and text of an answer; of a problem its code. */
const said = async (response: Response): Promise<ReadonlyArray<unknown>> => {
  const type = response.headers.get("content-type");
  const text = await response.text();
  return type === "application/problem+json"
    ? [response.status, (JSON.parse(text) as { readonly code: string }).code]
    : [response.status, type, text];
};

test("a witness by itself answers as the service's operation does", () => {
  const world = new WitnessWorld();
  world.grow(3);
  world.follow();
  return world.run(
    Effect.gen(function* () {
      const handle = witnessHandler(
        yield* world.whole,
        Effect.runPromiseExitWith(yield* Effect.context()),
      );
      const post = (body: string | Uint8Array<ArrayBuffer>) =>
        Effect.promise(() =>
          handle(new Request(URL_OF_WITNESS, { method: "POST", body })).then(said),
        );
      const cosigned = yield* post(world.log.offer(0, 4));
      expect(cosigned.slice(0, 2)).toEqual([200, "text/plain; charset=utf-8"]);
      expect(cosigned[2]).toStartWith("— witness.example ");
      expect(yield* post(world.log.offer(0, 4))).toEqual([409, "text/x.tlog.size", "4\n"]);
      expect(yield* post("old 0\n")).toEqual([400, "checkpoint_malformed"]);
      expect(yield* post(Uint8Array.of(0xff))).toEqual([400, "checkpoint_malformed"]);
      expect(yield* post("a".repeat(262_145))).toEqual([413, "payload_too_large"]);
      world.grow(1);
      world.follow();
      world.nodeEvents = () => null;
      expect(yield* post(world.log.offer(4, 5))).toEqual([503, "witness_not_ready"]);
      const get = yield* Effect.promise(() => handle(new Request(URL_OF_WITNESS)).then(said));
      expect(get).toEqual([405, "method_not_allowed"]);
      world.nodeEvents = () => world.events.length;
      const honest = world.log.leaves;
      world.log.leaves = [...honest.slice(0, 4), new Uint8Array(66)];
      const body = `${world.log.offer(4, 5)}— other.example AAAAAAAAAAAAAAAAAAAAAA==\n`;
      expect(yield* post(body)).toEqual([422, "checkpoint_refused"]);
      const refused = yield* Effect.promise(() =>
        handle(new Request("http://localhost/witness/refused")).then(said),
      );
      expect(JSON.parse(String(refused[2]))).toEqual({
        refused: [
          {
            origin: world.log.key.name,
            reason: "the ledger has another root at this size",
            checkpoint: world.log.note(5, world.log.root(5)),
            config: {
              slot: 4,
              owner: LOCAL_DEPLOYMENT.custodyProgram,
              data_base64: expect.any(String),
            },
          },
        ],
      });
      const other = yield* Effect.promise(() =>
        handle(new Request("http://localhost/add-checkpoint", { method: "POST" })).then(said),
      );
      expect(other).toEqual([404, "route_not_found"]);
    }),
  );
});

test("a bug is answered as an internal error, without its cause", async () => {
  const handle = witnessHandler({
    addCheckpoint: () => Effect.die(new Error("secret")),
    refused: Effect.succeed([]),
  });
  const response = await handle(new Request(URL_OF_WITNESS, { method: "POST", body: "x" }));
  const text = await response.text();
  expect(response.status).toBe(500);
  expect(text).not.toContain("secret");
});
