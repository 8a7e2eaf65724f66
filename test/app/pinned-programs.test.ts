import { afterAll, expect, test } from "bun:test";
import { Effect } from "effect";
import { diagnose } from "../../app/doctor/diagnose.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { PROGRAM_HASHES } from "../../core/protocol/generated/program-hashes.ts";
import packageJson from "../../package.json" with { type: "json" };
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
} from "./support/running-service.ts";

const directory = await temporaryDirectory();
const WRONG = "ab".repeat(32);
const service = await runService({
  ...quietEnvironment(directory.path),
  CUSTODY_PROGRAM_SHA256: WRONG,
});
afterAll(async () => {
  await service.stop();
  await directory.remove();
});

const textOf = async (path: string): Promise<string> => (await fetch(service.url + path)).text();

test("a service whose ledger has another program than the pinned one is not ready, and says so", async () => {
  // A store on a busy machine may be slow at first, and is then named before the pins.
  await until(
    "the pins are named",
    () => textOf("/ready"),
    (answer) => answer.includes("CUSTODY_PROGRAM_SHA256"),
  );
  expect(await textOf("/v1/status")).toContain(`"pinned_sha256":["${WRONG}"],"is_pinned":false`);
});

test("its trust document names what it pins, and nothing for a program that it does not pin", async () => {
  const document = await textOf("/.well-known/evidence-trust.json");
  expect(JSON.parse(document)).toMatchObject({ custody_program_sha256: [WRONG] });
  expect(document).not.toContain("attestor_program_sha256");
});

test("the doctor shows each program's hash and refuses one that is not pinned", async () => {
  const diagnosed = async (pins: Record<string, string>) => {
    const findings = await Effect.runPromise(
      diagnose(
        {
          PORT: "0",
          DATA_DIR: directory.path,
          SOLANA_RPC_URL: service.rpcUrl,
          SOLANA_CLUSTER: "localnet",
          CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
          ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
          ...pins,
        },
        packageJson.engines.bun,
      ),
    );
    return findings.filter(({ check }) => check === "programs");
  };
  const { custody, attestor } = PROGRAM_HASHES;
  const [unpinned] = await diagnosed({});
  expect(unpinned).toMatchObject({ ok: true });
  expect(unpinned?.text).toContain(`custody ${custody.v0}, not pinned`);
  const [right] = await diagnosed({ CUSTODY_PROGRAM_SHA256: `${WRONG},${custody.v0}` });
  expect(right).toMatchObject({ ok: true });
  expect(right?.text).toBe(
    `custody ${custody.v0}, as CUSTODY_PROGRAM_SHA256 pins it; attestor ${attestor.v0}, not pinned: ATTESTOR_PROGRAM_SHA256 would refuse another; initialised for each other and this ledger`,
  );
  const [wrong] = await diagnosed({ ATTESTOR_PROGRAM_SHA256: WRONG });
  expect(wrong).toMatchObject({ ok: false });
  expect(wrong?.text).toContain(`attestor ${attestor.v0} is not in ATTESTOR_PROGRAM_SHA256`);
});
