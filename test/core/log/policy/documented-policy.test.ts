import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { printVerifierKey } from "../../../../core/log/notes/verifier-key.ts";
import { parseLogPolicy } from "../../../../core/log/policy/parse-log-policy.ts";
import { testKey } from "../support/test-signer.ts";

const PAGE = readFileSync(new URL("../../../../docs/verify-evidence.md", import.meta.url), "utf8");
const KEYS: Readonly<Record<string, string>> = {
  vkey: printVerifierKey(testKey("example.com/log/0123456789abcdef/0", "ed25519", 1).key),
  witness: printVerifierKey(testKey("w.example", "cosignature", 2).key),
};

/** What jq makes of the texts that the page's commands put into `log`. */
const texts = Array.from(PAGE.matchAll(/'\.log = "(.*)"'/g), ([, text = ""]) =>
  text.replaceAll(/\\\(\$(\w+)\)/g, (_, name: string) => KEYS[name] ?? "").replaceAll("\\n", "\n"),
);

test("the page's commands make policies: of a log alone, and of a log with a witness", () => {
  expect(texts.map((text) => parseLogPolicy(text))).toMatchObject([
    { value: { logs: [{}], witnesses: [], quorum: null } },
    { value: { logs: [{}], witnesses: [{ name: "one" }], quorum: "one" } },
  ]);
});
