import { describe, expect, test } from "bun:test";
import { Effect, type Layer } from "effect";
import type { Address } from "../../core/domain/address.ts";
import { hash32FromBytes } from "../../core/domain/hash32.ts";
import { SettledPackets } from "../../ports/settled-packets.ts";
import { walletOf } from "../simulation/world-escrow.ts";

const [first, second, third] = ["first", "second", "third"].map((name) => walletOf(name)) as [
  Address,
  Address,
  Address,
];

const digestOf = (number: number) => hash32FromBytes(new Uint8Array(32).fill(number));

/**
 * What every store of served packets must do. `layerOf(most)` opens a new one that keeps at most that many; `again`
 * opens the same.
 */
export const settledPacketsContract = (
  name: string,
  fresh: () => (most: number) => Layer.Layer<SettledPackets>,
) => {
  const using = <A, E>(
    layer: Layer.Layer<SettledPackets>,
    program: (packets: SettledPackets["Service"]) => Effect.Effect<A, E>,
  ): Promise<A> =>
    Effect.runPromise(Effect.provide(Effect.flatMap(SettledPackets, program), layer));

  describe(`${name} keeps packets`, () => {
    test("one for each escrow, the last one, until another process asks for it", async () => {
      const open = fresh();
      await using(open(10), ({ keep }) =>
        Effect.all([
          keep(first, "one", digestOf(1)),
          keep(second, "two", digestOf(2)),
          keep(first, '{"ü":"three"}', digestOf(3)),
        ]),
      );
      const found = await using(open(10), ({ find }) =>
        Effect.all([first, second, third].map(find)),
      );
      expect(found).toEqual(['{"ü":"three"}', "two", null]);
      const escrows = await using(open(10), ({ escrowOf }) =>
        Effect.all([1, 2, 3].map((number) => escrowOf(digestOf(number)))),
      );
      expect(escrows).toEqual([null, second, first]);
    });

    test("the newest, and drops the one that was kept longest ago", async () => {
      const open = fresh();
      const found = await using(open(2), ({ keep, find }) =>
        Effect.gen(function* () {
          for (const [escrow, text] of [
            [first, "one"],
            [second, "two"],
            [first, "one again"],
            [third, "three"],
          ] as const)
            yield* keep(escrow, text, digestOf(1));
          return yield* Effect.all([first, second, third].map(find));
        }),
      );
      expect(found).toEqual(["one again", null, "three"]);
    });
  });
};
