import { expect, test } from "bun:test";
import { acceptsGzip } from "../../../../adapters/http/request/accept.ts";

test.each([
  "gzip",
  "GZIP",
  "x-gzip",
  "br, gzip;q=0.5",
  "deflate , gzip ; q=1.000",
  "*",
  "identity;q=0, *;q=0.1",
])("%j accepts gzip", (header) => {
  expect(acceptsGzip(header)).toBe(true);
});

test.each([
  null,
  "",
  "identity",
  "br",
  "gzip;q=0",
  "gzip;q=0.000, *",
  "*;q=0",
  "gzip;q=2",
  "gzipped",
  "not gzip",
])("%j does not", (header) => {
  expect(acceptsGzip(header)).toBe(false);
});
