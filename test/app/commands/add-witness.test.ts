import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main } from "../../../app/commands/log.ts";
import { decodeBase64Url } from "../../../core/domain/encoding/base64.ts";
import {
  parseVerifierKey,
  printVerifierKey,
  verifierKey,
} from "../../../core/log/notes/verifier-key.ts";
import { testKey } from "../../core/log/support/test-signer.ts";
import { runHere } from "../support/run-here.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
} from "../support/running-service.ts";
import { SILENT_ADDRESS } from "../support/silent-address.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: Awaited<ReturnType<typeof runService>>;
beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await runService({ ...quietEnvironment(directory.path), LOCAL_LEDGER_DEMO: "false" });
});
afterAll(async () => {
  await service.stop();
  await directory.remove();
});

const log = (...args: ReadonlyArray<string>) => runHere((io) => runCommand(main, args, io));
const add = (line: string, ...more: ReadonlyArray<string>) =>
  log("add-witness", line, "--data-dir", directory.path, "--service", service.url, ...more);
const lineOf = (publicKey: Uint8Array, name = "w.example") =>
  `witness ${name} ${printVerifierKey(verifierKey(name, "cosignature", publicKey))} https://${name}/witness`;
const other = lineOf(testKey("w.example", "cosignature", 5).key.publicKey);
const file = () => join(directory.path, "log-witnesses");

const refusal = (reason: string, code = 65) => ({
  code,
  stdout: "",
  stderr: expect.stringContaining(reason),
});

test("a key that signs the log or evidence is no witness's, and nothing is written", async () => {
  const vkey = await until(
    "the log has signed",
    async () => {
      const { data } = (await (await fetch(`${service.url}/v1/status`)).json()) as {
        readonly data: { readonly log: { readonly vkey: string | null } | null };
      };
      return data.log?.vkey ?? "";
    },
    (text) => text !== "",
  );
  const key = parseVerifierKey(vkey);
  if ("fault" in key) throw new Error(key.fault);
  expect(await add(lineOf(key.value.publicKey))).toEqual(refusal("its key is the log's own"));
  const jwks = (await (await fetch(`${service.url}/.well-known/jwks.json`)).json()) as {
    readonly keys: ReadonlyArray<{ readonly x: string }>;
  };
  const evidence = decodeBase64Url(jwks.keys[0]?.x ?? "") ?? new Uint8Array();
  expect(await add(lineOf(evidence))).toEqual(refusal("its key is one that signs evidence"));
  expect(await Bun.file(file()).exists()).toBe(false);
});

test("a quorum of more than all, and a line without an address, are refused", async () => {
  // A host as a container has it is none to refuse.
  for (const line of [other, other.replace("https://w.example", "http://shop_witness_1:8080")])
    expect(await add(line, "--quorum", "2")).toEqual(refusal("wants 2 of 1"));
  expect(await add(other, "--quorum", "0")).toEqual(refusal("--quorum", 64));
  expect(await add(other.replace(/ https.*/, ""))).toEqual(refusal("ends with no http"));
  expect(await add(other.replace("https:", "ftp:"))).toEqual(refusal("ends with no http"));
  for (const behind of ['"', '",', "'", "`", ",", ";", "?a=b", "#a", "\\", "<", "%22,"])
    expect(await add(`${other}${behind}`)).toEqual(refusal("more than a host and a path"));
  expect(await add(other.replace("https://", "https://user:word@"))).toEqual(
    refusal("more than a host and a path"),
  );
  expect(await Bun.file(file()).exists()).toBe(false);
});

test("a policy that is written by hand is left to its author", async () => {
  const text = `${lineOf(testKey("a.example", "cosignature", 6).key.publicKey, "a.example")}\nquorum none\n`;
  await writeFile(file(), text);
  expect(await add(other)).toEqual(refusal("by hand"));
  expect(await readFile(file(), "utf8")).toBe(text);
});

test("an unknown command and a silent service are told", async () => {
  expect(await log("add")).toEqual(
    refusal("expected add-witness LINE, remove-witness NAME, rotate-key, retire-key or end", 64),
  );
  expect(await log("add-witness", other, "--service", SILENT_ADDRESS)).toEqual(
    refusal("does not answer", 69),
  );
});

const remove = (name: string, ...more: ReadonlyArray<string>) =>
  log("remove-witness", name, "--data-dir", directory.path, "--service", service.url, ...more);

const asked = async () => {
  const { data } = (await (await fetch(`${service.url}/v1/status`)).json()) as {
    readonly data: { readonly log: { readonly witnesses: ReadonlyArray<{ name: string }> } };
  };
  return data.log.witnesses.map(({ name }) => name);
};

test("witnesses are removed while the service runs, the last one too, and one comes back", async () => {
  const names = ["a.example", "b.example", "c.example"];
  const lines = names.map((name, at) =>
    lineOf(testKey(name, "cosignature", 20 + at).key.publicKey, name),
  );
  await writeFile(
    file(),
    `${lines.join("\n")}\ngroup witnesses 3 ${names.join(" ")}\nquorum witnesses\n`,
  );
  await until("the service asks three", asked, (now) => now.length === 3);
  expect(await remove("d.example")).toEqual(refusal("names no witness d.example"));
  expect(await remove("a.example", "--quorum", "3")).toEqual(refusal("wants 3 of 2"));
  expect(await remove("a.example", "--append-only")).toEqual(refusal("names no witness a.example"));
  expect(await asked()).toEqual(names);
  expect(await remove("b.example", "--quorum", "1")).toEqual({
    code: 0,
    stdout: `${service.url} asks b.example no more; 1 of a.example, c.example must cosign\n`,
    stderr: "",
  });
  expect(await asked()).toEqual(["a.example", "c.example"]);
  expect((await remove("a.example")).stdout).toContain("1 of c.example must cosign");
  expect((await remove("c.example")).stdout).toContain("no witness is left");
  expect(await asked()).toEqual([]);
  expect(await readFile(file(), "utf8")).toEndWith("quorum none\n");
  expect(await remove("c.example")).toEqual(refusal("names no witness c.example"));
  const back = await add(lines[0] ?? "");
  expect(back.stdout).toContain("asks a.example; 1 of a.example must cosign");
}, 60_000);
