import { expect, test } from "bun:test";
import { Effect } from "effect";
import { faultLines } from "../../../app/config/variable.ts";
import {
  readLoneWitnessSettings,
  witnessAddresses,
} from "../../../app/config/witness-environment.ts";
import { readSettings } from "../../../app/config/settings.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";

const WITNESS = { WITNESS_LOGS: "logs.txt", WITNESS_KEY_FILE: "key", WITNESS_NAME: "w.example" };
const NODE = {
  SOLANA_RPC_URL: "http://node.example",
  CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
  ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
};
const witness = { name: "w.example", keyFile: "key", logsFile: "logs.txt" };

test("three settings make a service a witness, none make it none, fewer stop it", async () => {
  expect((await Effect.runPromise(readSettings(WITNESS))).witness).toEqual(witness);
  expect((await Effect.runPromise(readSettings({}))).witness).toBeNull();
  const { faults } = await Effect.runPromise(Effect.flip(readSettings({ WITNESS_LOGS: "l" })));
  expect(faultLines(faults)).toEqual([
    "WITNESS_KEY_FILE is not set; expected a value: a witness needs all three",
    "WITNESS_NAME is not set; expected a value: a witness needs all three",
  ]);
});

test("a misspelt variable of a lone witness is told with each name that it resembles, once", async () => {
  const { faults } = await Effect.runPromise(
    Effect.flip(readLoneWitnessSettings({ ...NODE, ...WITNESS, SOLANA_RPC_URLS: "x" })),
  );
  expect(faultLines(faults)).toEqual([
    "SOLANA_RPC_URLS is not a variable of this service; expected SOLANA_RPC_URL",
  ]);
});

test("a witness by itself needs a node, the programs and its three settings", async () => {
  const settings = await Effect.runPromise(readLoneWitnessSettings({ ...NODE, ...WITNESS }));
  expect(settings).toMatchObject({
    host: "127.0.0.1",
    port: 3001,
    url: null,
    dataDir: "./witness-data",
    deployment: LOCAL_DEPLOYMENT,
    witness,
  });
  const { faults } = await Effect.runPromise(
    Effect.flip(readLoneWitnessSettings({ PORT: "x", WITNESS_NAME: "w" })),
  );
  expect(faults.map(({ variable }) => variable)).toEqual([
    "PORT",
    "SOLANA_RPC_URL",
    "CUSTODY_PROGRAM_ID",
    "ATTESTOR_PROGRAM_ID",
    "WITNESS_LOGS",
    "WITNESS_KEY_FILE",
  ]);
});

test("a witness that joins a service's log needs a node alone, and both programs or none", async () => {
  const joins = (env: Readonly<Record<string, string>>) => readLoneWitnessSettings(env, true);
  const alone = await Effect.runPromise(joins({ SOLANA_RPC_URL: "http://node.example" }));
  expect(alone).toMatchObject({
    deployment: null,
    witness: { name: null, keyFile: null, logsFile: null },
  });
  expect(await Effect.runPromise(joins(NODE))).toMatchObject({ deployment: LOCAL_DEPLOYMENT });
  const { ATTESTOR_PROGRAM_ID: _, ...half } = NODE;
  const { faults } = await Effect.runPromise(Effect.flip(joins(half)));
  expect(faultLines(faults)).toEqual([
    "CUSTODY_PROGRAM_ID and ATTESTOR_PROGRAM_ID are not both set; expected both or neither: the service that the witness joins names its programs",
  ]);
  const missing = await Effect.runPromise(Effect.flip(joins({})));
  expect(missing.faults.map(({ variable }) => variable)).toEqual(["SOLANA_RPC_URL"]);
});

test("a witness states the address that it listens on, and that under which logs reach it", async () => {
  const settings = await Effect.runPromise(
    readLoneWitnessSettings({ ...NODE, ...WITNESS, WITNESS_URL: "https://w.example/a/" }),
  );
  expect(witnessAddresses(settings, 4000)).toEqual({
    listens: "http://127.0.0.1:4000/witness",
    url: "https://w.example/a/witness",
  });
  expect(witnessAddresses({ host: "0.0.0.0", url: null }, 4000).listens).toBe(
    "http://0.0.0.0:4000/witness",
  );
  const ipv6 = witnessAddresses({ host: "::1", url: null }, 4000);
  expect(ipv6).toEqual({ listens: "http://[::1]:4000/witness", url: "http://[::1]:4000/witness" });
});
