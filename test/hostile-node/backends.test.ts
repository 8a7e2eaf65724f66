import { expect, test } from "bun:test";
import { serveNode } from "../simulation/serve-node.ts";
import { remoteBackend } from "./backends.ts";

test("a backend that lags behind a real node answers from as long ago as it can, and never before a slot that a question names", async () => {
  let slot = 100;
  using node = serveNode(() => ({ result: { absoluteSlot: slot } }));
  const backend = remoteBackend(node.url, node.url.replace("http", "ws"));
  const tip = (lagSlots: number, minContextSlot?: number) =>
    backend.answer(
      {
        id: 1,
        method: "getEpochInfo",
        params: [{ commitment: "finalized", ...(minContextSlot && { minContextSlot }) }],
      },
      lagSlots,
    );
  const at = (absoluteSlot: number) => ({ result: { absoluteSlot } });
  expect(await tip(10)).toEqual(at(100));
  slot = 105;
  expect([await tip(5), await tip(3), await tip(0)]).toEqual([at(100), at(100), at(105)]);
  expect(await tip(10)).toEqual(at(100));
  expect(await tip(10, 101)).toMatchObject({ error: { code: -32_016 } });
  slot = 200;
  expect([await tip(90), await tip(150, 100)]).toEqual([at(105), at(100)]);
});
