import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localKey, LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { canonicalJsonBytes } from "../../core/domain/encoding/canonical-json.ts";
import { PROOF_TEMPLATES } from "../../core/domain/evidence/proof-template-catalogue.ts";
import { taskHash } from "../../core/domain/escrow/task-hash.ts";
import { withDemoLedger } from "../app/support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
} from "../app/support/running-service.ts";

// Runs each example of examples/ against a service of its own: first the agent's, then the merchant's, then the passer-by's.

const examples = new URL("../../examples/", import.meta.url).pathname;
const python = process.env["PYTHON"] ?? "python3";
const works = (...command: ReadonlyArray<string>): boolean => {
  try {
    return Bun.spawnSync([...command], { stdout: "ignore", stderr: "ignore" }).success;
  } catch {
    return false;
  }
};
const hasSolders = works(python, "-c", "import solders");
const hasGo = works("go", "version");
const hasShell = ["bash", "curl", "openssl", "xxd", "jq", "bc"].every((tool) =>
  works("which", tool),
);

const skip = (what: string, missing: string): void => {
  process.stdout.write(`SKIPPED ${what}: ${missing} is absent\n`);
};

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

if (!hasSolders) {
  skip("all examples", `solders for ${python}`);
  process.exit(0);
}

const folder = await mkdtemp(join(tmpdir(), "examples-"));
const directory = await temporaryDirectory();
const service = await runService(quietEnvironment(withDemoLedger(directory.path)));

/** The last line that a command prints. @throws Error when it fails. */
const run = async (command: ReadonlyArray<string>, env: Record<string, string>) => {
  const child = Bun.spawn([...command], {
    env: { ...process.env, SERVICE: service.url, TMPDIR: folder, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}\n${out}${error}`);
  process.stdout.write(`ran ${command.at(-1)?.replace(examples, "")}: ${out.trim()}\n`);
  return out.trim().split("\n").at(-1) ?? "";
};

const [agent, attestor] = [localKey("agent/planner"), localKey("attestor/forecast")];
const payer = localKey("agent/trader");
const pem = join(folder, "attestor.pem");
const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), attestor.seed]);
await Bun.write(
  pem,
  `-----BEGIN PRIVATE KEY-----\n${der.toString("base64")}\n-----END PRIVATE KEY-----\n`,
);

const merchants = [
  { command: ["bash", `${examples}merchant.sh`], missing: hasShell ? null : "a shell tool" },
  { command: ["go", "run", `${examples}merchant.go`], missing: hasGo ? null : "Go" },
] as const;

try {
  await until(
    "the service is ready",
    () => fetch(`${service.url}/ready`).then(({ status }) => status),
    (status) => status === 200,
  );
  for (const [i, { command, missing }] of merchants.entries()) {
    if (missing !== null) {
      skip(command.at(-1) ?? "", missing);
      continue;
    }
    const NONCE = `example-${i}`;
    const ESCROW = await run([python, `${examples}agent.py`], {
      AGENT_KEY: hex(agent.seed),
      MERCHANT: localKey("merchant/forecast").address,
      ATTESTOR: attestor.address,
      MINT: LOCAL_USDC_MINT,
      NONCE,
    });
    const task_hash = taskHash("GET https://api.example.com", NONCE);
    const PAYLOAD = new TextDecoder().decode(
      canonicalJsonBytes({ ...PROOF_TEMPLATES[0]?.example, task_hash }),
    );
    const keys = { ATTESTOR_KEY: hex(attestor.seed), ATTESTOR_PEM: pem };
    const CLAIM = await run(command, { ESCROW, PAYLOAD, ...keys });
    const ended = await run([python, `${examples}passer_by.py`], {
      ESCROW,
      CLAIM,
      PAYER_KEY: hex(payer.seed),
    });
    if (ended !== "release finalized") throw new Error(`it ended with ${ended}`);
  }
} finally {
  await service.stop();
  await directory.remove();
  await rm(folder, { recursive: true });
}
