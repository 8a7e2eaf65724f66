import { describe, expect, test } from "bun:test";
import { Effect, type Layer } from "effect";
import { WebhookRecords } from "../../ports/webhook-records.ts";

/** What every store of webhooks must do. `fresh` gives an empty one; what it gives opens the same one again. */
export const webhookRecordsContract = (
  name: string,
  fresh: () => () => Layer.Layer<WebhookRecords>,
) => {
  const using = <A, E>(
    layer: Layer.Layer<WebhookRecords>,
    work: (records: WebhookRecords["Service"]) => Effect.Effect<A, E>,
  ): Promise<A> => Effect.runPromise(Effect.provide(Effect.flatMap(WebhookRecords, work), layer));

  describe(name, () => {
    test("keeps texts by id until another process asks for them, and removes them", async () => {
      const open = fresh();
      const changed = await using(open(), ({ replace }) =>
        Effect.all([
          replace("wh_b", null, '{"ü":"two"}'),
          replace("wh_a", null, "one"),
          replace("wh_a", "one", "another"),
          replace("wh_c", null, "three"),
          replace("wh_c", "three", null),
        ]),
      );
      expect(changed).toEqual([true, true, true, true, true]);
      expect(await using(open(), ({ all }) => all)).toEqual([
        { id: "wh_a", text: "another" },
        { id: "wh_b", text: '{"ü":"two"}' },
      ]);
    });

    test("changes nothing where another text stands than the one that was read", async () => {
      const open = fresh();
      const changed = await using(open(), ({ replace }) =>
        Effect.all([
          replace("wh_a", "never", "one"),
          replace("wh_a", "never", null),
          replace("wh_a", null, null),
          replace("wh_a", null, "one"),
          replace("wh_a", null, "two"),
          replace("wh_a", "two", "three"),
          replace("wh_a", "two", null),
          replace("wh_a", null, null),
        ]),
      );
      expect(changed).toEqual([false, false, true, true, false, false, false, false]);
      expect(await using(open(), ({ all }) => all)).toEqual([{ id: "wh_a", text: "one" }]);
    });

    test("of writers that read the same text one succeeds, through connections of their own", async () => {
      const open = fresh();
      await using(open(), ({ replace }) => replace("wh_a", null, "0"));
      const won = await Promise.all(
        ["1", "2", "3", "4"].map((text) =>
          using(open(), ({ replace }) =>
            Effect.retry(replace("wh_a", "0", text), { while: ({ retryable }) => retryable }),
          ),
        ),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
    });
  });
};
