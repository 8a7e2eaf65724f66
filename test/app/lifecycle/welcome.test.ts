import { expect, test } from "bun:test";
import { welcome } from "../../../app/lifecycle/welcome.ts";

const service = {
  url: "http://127.0.0.1:3999",
  rpcUrl: "http://127.0.0.1:8899/",
  ownWitnesses: [],
};

test("the first lines on a terminal name the page, the reference, the ledger and a demo of this very service", () => {
  const text = welcome(service, "embedded");
  expect(text).toContain("http://127.0.0.1:3999/docs\n");
  expect(text).toContain("http://127.0.0.1:8899/ ");
  expect(text).toContain("run demo --service http://127.0.0.1:3999\n");
});

test("they name the service's own witnesses as such, where they run", () => {
  expect(welcome(service, "embedded")).not.toContain("witnesses");
  const text = welcome({ ...service, ownWitnesses: ["own-1", "own-2"] }, "embedded");
  expect(text).toContain("own-1, own-2 (all yours: they show how it works, and no independence)\n");
});

test("with a node elsewhere they name no address of the node, which may hold a key", () => {
  const text = welcome({ ...service, rpcUrl: "https://node.example/secret" }, "remote");
  expect(text).not.toContain("node.example");
});
