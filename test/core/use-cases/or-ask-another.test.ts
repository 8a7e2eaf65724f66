import { describe, expect, test } from "bun:test";
import { Data, Effect } from "effect";
import { ofTwoNodes, orAskAnother, orTwoSayNo } from "../../../core/use-cases/or-ask-another.ts";
import {
  ExceptNode,
  LastAnswer,
  LedgerUnavailable,
  NodeCount,
} from "../../../ports/ledger/ledger.ts";

class Missing extends Data.TaggedError("Missing")<{ readonly nodes?: number }> {}

type Said = "found" | "missing" | "silent";

/** A read of nodes of which each says what the list has at its place; the first that may be asked answers. */
const readOf = (said: ReadonlyArray<Said>, asked: Array<number>) =>
  Effect.gen(function* () {
    const except = yield* ExceptNode;
    const index = said.findIndex((_, at) => at !== except);
    asked.push(index);
    if (said[index] === "silent")
      return yield* new LedgerUnavailable({ retryable: true, cause: "" });
    const last = yield* LastAnswer;
    if (last !== null) last.source = { node: `node ${index}`, method: "read", index };
    return said[index] === "missing" ? yield* new Missing({}) : index;
  });

const ask = async (...said: ReadonlyArray<Said>) => {
  const asked: Array<number> = [];
  return told(asked, said, readOf(said, asked));
};

const told = async <E extends { readonly _tag: string }>(
  asked: ReadonlyArray<number>,
  said: ReadonlyArray<Said>,
  read: Effect.Effect<number, E>,
) => {
  const outcome = await Effect.runPromise(
    Effect.result(orTwoSayNo("Missing")(read)).pipe(Effect.provideService(NodeCount, said.length)),
  );
  const verdict =
    outcome._tag === "Success"
      ? outcome.success
      : [outcome.failure._tag, "nodes" in outcome.failure ? outcome.failure.nodes : undefined];
  return { asked, told: verdict };
};

describe("orTwoSayNo", () => {
  test("what one node shows is believed, and no other is asked", async () => {
    expect(await ask("found", "missing")).toEqual({ asked: [0], told: 0 });
  });

  test("a no of the only node says that it is of one", async () => {
    expect(await ask("missing")).toEqual({ asked: [0], told: ["Missing", 1] });
  });

  test("a no counts once another node has said it too", async () => {
    expect(await ask("missing", "missing", "found")).toEqual({
      asked: [0, 1],
      told: ["Missing", 2],
    });
  });

  test("what the other node shows is believed", async () => {
    expect(await ask("missing", "found")).toEqual({ asked: [0, 1], told: 1 });
  });

  test("a no within a read that asks another node after a contradiction is that node's too", async () => {
    const asked: Array<number> = [];
    const said = ["missing", "missing"] as const;
    expect(await told(asked, said, orAskAnother(readOf(said, asked)))).toEqual({
      asked: [0, 1],
      told: ["Missing", 2],
    });
  });

  test("while the other node is silent nothing is denied", async () => {
    expect(await ask("missing", "silent")).toEqual({
      asked: [0, 1],
      told: ["LedgerUnavailable", undefined],
    });
  });
});

test("ofTwoNodes tells how many nodes gave a value that is a no", async () => {
  const value = (...said: ReadonlyArray<Said>) => {
    const read = Effect.catchTag(readOf(said, []), "Missing", () => Effect.succeed(null));
    return Effect.runPromise(
      ofTwoNodes(read, (index) => index === null).pipe(
        Effect.provideService(NodeCount, said.length),
      ),
    );
  };
  expect(await value("found", "missing")).toEqual({ value: 0, nodes: 1 });
  expect(await value("missing")).toEqual({ value: null, nodes: 1 });
  expect(await value("missing", "missing")).toEqual({ value: null, nodes: 2 });
  expect(await value("missing", "found")).toEqual({ value: 1, nodes: 2 });
});
