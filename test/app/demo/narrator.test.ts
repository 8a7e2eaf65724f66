import { expect, test } from "bun:test";
import { type Exchange, textNarrator } from "../../../app/demo/narrator.ts";

const told = (full: boolean, exchanges: ReadonlyArray<Partial<Exchange> | "step">) => {
  const lines: Array<string> = [];
  const narrator = textNarrator((line) => void lines.push(line), { full });
  const plain = { method: "GET", url: "http://a/", body: null, status: 200, text: "{}" };
  for (const each of exchanges)
    if (each === "step") narrator.step("Step", "why");
    else narrator.exchange({ ...plain, ...each });
  return lines;
};
const long = "x".repeat(1_000);

test("long values are cut for a person, and whole with --full, so that every request can be repeated", () => {
  const post = {
    method: "POST",
    body: JSON.stringify({ transaction: long, name: "it's" }),
    text: long,
  };
  expect(told(true, [post])).toEqual([
    `   $ curl -s 'http://a/' -H 'content-type: application/json' -d '{"transaction":"${long}","name":"it'\\''s"}'`,
    `   ← 200 ${long}`,
  ]);
  expect(told(false, [post])).toEqual([
    `   $ curl -s 'http://a/' -H 'content-type: application/json' -d '{"transaction":"${long.slice(0, 24)}…976 more characters","name":"it'\\''s"}'`,
    `   ← 200 ${long.slice(0, 160)}…`,
  ]);
});

test("what is asked again is told once, until it is answered otherwise or another step begins", () => {
  const late = {
    status: 409,
    text: '{"code":"not_final_yet","detail":"Expect it in 13 seconds."}',
  };
  const [request, done] = ["   $ curl -s 'http://a/'", "   ← 200 {}"];
  const wait = "   ← 409 not_final_yet: Expect it in 13 seconds.";
  expect(told(false, [late, late, {}, {}, "step", {}])).toEqual([
    request,
    wait,
    request,
    done,
    "\n1. Step",
    "   why",
    request,
    done,
  ]);
});

test("a stream is told without its events", () => {
  expect(told(false, [{ text: null }])).toEqual([
    "   $ curl -sN 'http://a/'",
    "   ← 200, a stream of events",
  ]);
});
