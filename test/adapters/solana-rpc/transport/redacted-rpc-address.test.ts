import { expect, test } from "bun:test";
import fc from "fast-check";
import { redactedRpcAddress } from "../../../../adapters/solana-rpc/transport/rpc-failure.ts";

test.each([
  ["https://api.devnet.solana.com", "https://api.devnet.solana.com"],
  [
    "https://user:secret@node.example:8899/v2/secret?api-key=secret#secret",
    "https://node.example:8899",
  ],
  ["http://[::1]:8899/secret", "http://[::1]:8899"],
  ["secret", "unreadable address"],
  ["data:secret", "unreadable address"],
])("%s is shown as %s", (url, shown) => {
  expect(redactedRpcAddress(url)).toBe(shown);
});

test("no key shows, wherever it is in the address", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9]{8,40}$/), (key) => {
      for (const url of [
        `https://${key}:${key}@n.example`,
        `https://n.example/${key}?k=${key}#${key}`,
      ]) {
        expect(redactedRpcAddress(url)).toBe("https://n.example");
      }
    }),
  );
});
