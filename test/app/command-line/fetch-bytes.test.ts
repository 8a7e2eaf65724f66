import { expect, test } from "bun:test";
import { boundedBody } from "../../../app/command-line/fetch-bytes.ts";

test("a body is read up to its bound", async () => {
  expect(await boundedBody(new Blob(["four"]).stream(), 4)).toEqual(Buffer.from("four"));
  expect(await boundedBody(new Blob([]).stream(), 0)).toEqual(Buffer.alloc(0));
});

test("a body without an end is not read to it", async () => {
  let given = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        given += 1000;
        if (given > 10_000) controller.error(new Error("read without end"));
        else controller.enqueue(new Uint8Array(1000));
      },
    },
    { highWaterMark: 0 },
  );
  const read = boundedBody(body, 2500).catch((cause: Error) => cause.message);
  expect(await read).toBe("it has more than 2500 bytes");
});
