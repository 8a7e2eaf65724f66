import { expect, test } from "bun:test";
import { isPlain } from "../../../../adapters/http/request/query-string.ts";

const ESCROW = "/v1/escrows/{pda}";
const at = (path: string) => `http://host:8080${path}`;

test.each([
  ["/v1", {}, "/v1"],
  ["/", {}, "/?a=/v1"],
  ["/openapi.json", {}, "/openapi.json"],
  [ESCROW, { pda: "AbC_-9" }, "/v1/escrows/AbC_-9?preflight=true"],
  ["/log/tile/{level}/{first}", { level: "0", first: "000" }, "/log/tile/0/000"],
])("%s with %o is all that %s can be", (path, params, url) => {
  expect(isPlain({ path, params }, at(url))).toBe(true);
});

test.each([
  ["another path", ESCROW, { pda: "a" }, "/v1/escrows/b"],
  ["a longer path", "/v1", {}, "/v1/escrows"],
  ["a path behind the path", "/v1", {}, "/v2/v1"],
  ["a slash at the end", "/v1", {}, "/v1/"],
  ["a fragment", "/v1", {}, "/v1#a"],
  ["what the parser of the URL resolved", ESCROW, { pda: ".." }, "/v1/escrows/.."],
  ["dots", ESCROW, { pda: "a.b" }, "/v1/escrows/a.b"],
  ["a decoded character", ESCROW, { pda: "A" }, "/v1/escrows/%41"],
  ["an encoding that is none", ESCROW, { pda: "%zz" }, "/v1/escrows/%zz"],
  ["a decoded slash", ESCROW, { pda: "a/b" }, "/v1/escrows/a%2Fb"],
  ["a backslash", ESCROW, { pda: "a\\b" }, "/v1/escrows/a/b"],
  ["nothing", ESCROW, { pda: "" }, "/v1/escrows/"],
])("%s may be read in another way", (_name, path, params, url) => {
  expect(isPlain({ path, params }, at(url))).toBe(false);
});
