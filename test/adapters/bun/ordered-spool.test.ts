import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { OrderedSpool } from "../../../adapters/bun/ordered-spool.ts";
import { runs } from "../../arbitraries/runs.ts";
import { tmpdir } from "../../temporary-root.ts";

/** Runs a program with a new folder that goes with it. */
const withFolder = (program: (folder: string) => void): void => {
  const folder = mkdtempSync(join(tmpdir(), "ordered-spool-"));
  program(folder);
  rmSync(folder, { recursive: true });
};

type Appended = { readonly seq: number; readonly bytes: Uint8Array };

const read = (spool: OrderedSpool) =>
  Array.from(spool.ascending(), ({ seq, bytes }) => ({ seq, bytes: bytes.toHex() }));

/** Records by number, and in the order in which they came within one. */
const expected = (records: ReadonlyArray<Appended>) =>
  records
    .toSorted((a, b) => a.seq - b.seq)
    .map(({ seq, bytes }) => ({ seq, bytes: bytes.toHex() }));

const append = (spool: OrderedSpool, records: ReadonlyArray<Appended>): void => {
  for (const { seq, bytes } of records) spool.append(seq, bytes);
};

const someRecords = fc.array(
  fc.record({ seq: fc.nat({ max: 40 }), bytes: fc.uint8Array({ maxLength: 9 }) }),
);

test("records come back by ascending number, repeats as they came, and more after more", () => {
  fc.assert(
    fc.property(someRecords, someRecords, fc.integer({ min: 1, max: 50 }), (some, more, width) =>
      withFolder((folder) => {
        const spool = new OrderedSpool(join(folder, "spool"), width);
        append(spool, some);
        expect(read(spool)).toEqual(expected(some));
        append(spool, more);
        expect(read(spool)).toEqual(expected([...some, ...more]));
      }),
    ),
    runs(50),
  );
});

test("more than memory holds goes through files, whatever the order", () =>
  withFolder((folder) => {
    const records = Array.from({ length: 3000 }, (_, at) => {
      const seq = (at * 7919) % 3000;
      return { seq, bytes: new Uint8Array(500).fill(seq % 256) };
    });
    const spool = new OrderedSpool(folder, 1000);
    append(spool, records.slice(0, 2500));
    expect(readdirSync(folder).sort()).toEqual(["0", "1", "2"]);
    expect(read(spool)).toEqual(expected(records.slice(0, 2500)));
    append(spool, records.slice(2500));
    expect(read(spool)).toEqual(expected(records));
  }));

test("the numbers of a large log are exact", () =>
  withFolder((folder) => {
    const last = Number.MAX_SAFE_INTEGER;
    const spool = new OrderedSpool(folder, 100_000);
    append(spool, [{ seq: last, bytes: Uint8Array.of(1) }]);
    append(spool, [{ seq: last - 1, bytes: Uint8Array.of(2) }]);
    expect(read(spool)).toEqual([
      { seq: last - 1, bytes: "02" },
      { seq: last, bytes: "01" },
    ]);
  }));
