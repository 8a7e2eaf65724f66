import { afterAll, beforeAll, expect, test } from "bun:test";
import { readDeployKey } from "../../../app/deploy/inputs/deploy-keys.ts";
import { landed } from "../../../app/deploy/deploy-context.ts";
import { runDeploy } from "../../../app/deploy/run-deploy.ts";
import { type Address, parseAddress } from "../../../core/domain/address.ts";
import type { Deployment } from "../../../core/domain/ledger/deployment.ts";
import { decodeProgramDataAccount } from "../../../core/protocol/accounts/loader-v3.ts";
import { programDataAddress } from "../../../core/protocol/addresses/addresses.ts";
import { PROGRAM_HASHES } from "../../../core/protocol/generated/program-hashes.ts";
import { upgradeProgramInstruction } from "../../../core/protocol/instructions/loader-instructions.ts";
import { deploy, emptyCluster, type EmptyCluster, refusalOf } from "./deploy-fixture.ts";

const SOL = 1_000_000_000n;

let cluster: EmptyCluster;
let deployment: Deployment;
beforeAll(async () => {
  cluster = await emptyCluster();
});
afterAll(() => cluster.stop());

/** Who may upgrade the attestor program and custody; null for nobody. */
const authorities = (): ReadonlyArray<Address | null | undefined> =>
  [deployment.attestorProgram, deployment.custodyProgram].map((program) => {
    const data = cluster.ledger.accounts.read(programDataAddress(program), "processed");
    return data && decodeProgramDataAccount(data)?.upgradeAuthority;
  });

const pinsInEnv = async () =>
  (await cluster.env()).split("\n").filter((line) => line.includes("_SHA256="));

const { attestor: ATTESTOR, custody: CUSTODY } = PROGRAM_HASHES;

test("a deployment writes the hashes of both programs as the service's pins", async () => {
  const options = cluster.options({ "new-payer": true, airdrop: true, "new-mint": true });
  ({ deployment } = await deploy(options));
  expect(await pinsInEnv()).toEqual([
    `CUSTODY_PROGRAM_SHA256=${CUSTODY.v3}`,
    `ATTESTOR_PROGRAM_SHA256=${ATTESTOR.v3}`,
  ]);
}, 60_000);

test("--authority gives both programs to an address, and says that nothing here takes them back", async () => {
  const other = await cluster.keyFile("council.json");
  const options = () => cluster.options({ authority: other.address, airdrop: true });
  const { said } = await deploy(options());
  expect(said).toContain(
    `the right to upgrade attestor and custody goes to ${other.address}: this command cannot take it back`,
  );
  expect(authorities()).toEqual([other.address, other.address]);
  const again = await deploy(options());
  expect(again.said).toContain("spent 0 lamports");
}, 60_000);

test("an upgrade of programs that another authority has waits in buffers for its signature", async () => {
  const council = await readDeployKey("--payer-key", cluster.path("council.json"));
  await cluster.give(council.address, SOL);
  const options = () => cluster.options({ sbpf: "v0", airdrop: true });
  const proposed = await deploy(options());
  const told = [
    ...proposed.said.matchAll(
      /program {2}(\S+), sha256 \w+ until then\n +buffer {3}(\S+), sha256 (\w+) .*\n +spill {4}(\S+),/g,
    ),
  ].map(([, program, buffer, hash, spill]) => ({
    program: parseAddress(program ?? "") as Address,
    buffer: parseAddress(buffer ?? "") as Address,
    spill: parseAddress(spill ?? "") as Address,
    hash,
  }));
  expect(told.map(({ program, hash }) => [program, hash])).toEqual([
    [deployment.attestorProgram, ATTESTOR.v0],
    [deployment.custodyProgram, CUSTODY.v0],
  ]);
  expect(proposed.said).toContain(`waits for the signature of ${council.address}`);
  const [, most] = /(\d+) lamports .* in all, at most/.exec(proposed.said) ?? [];
  expect(proposed.said).toContain(`the payer spent ${most} lamports`);
  expect(cluster.buffers()).toHaveLength(2);
  // Both hashes are pinned, so that the service goes on before the upgrade and after it.
  expect(await pinsInEnv()).toEqual([
    `CUSTODY_PROGRAM_SHA256=${CUSTODY.v3},${CUSTODY.v0}`,
    `ATTESTOR_PROGRAM_SHA256=${ATTESTOR.v3},${ATTESTOR.v0}`,
  ]);

  const again = await deploy(options());
  expect(again.said).toContain("spent 0 lamports");
  expect(again.said).toContain(String(told[0]?.buffer));
  expect(cluster.buffers()).toHaveLength(2);

  const { context } = proposed;
  const before = cluster.balance(context.payer.address);
  for (const { program, buffer, spill } of told)
    await landed({ ...context, payer: council }, "upgrading", {
      instructions: [
        upgradeProgramInstruction({ program, buffer, spill, authority: council.address }),
      ],
    });
  expect(cluster.buffers()).toEqual([]);
  expect(cluster.balance(context.payer.address)).toBeGreaterThan(before + SOL / 5n);
  const done = await deploy(options());
  expect(done.said).toContain("nothing is left to deploy");
  expect(await pinsInEnv()).toEqual([
    `CUSTODY_PROGRAM_SHA256=${CUSTODY.v0}`,
    `ATTESTOR_PROGRAM_SHA256=${ATTESTOR.v0}`,
  ]);
}, 60_000);

test("only the authority gives its right away, and no option does two things with it", async () => {
  const run = (changes: Parameters<EmptyCluster["options"]>[0]) =>
    refusalOf(() => deploy(cluster.options(changes)));
  const other = await cluster.keyFile("other.json");
  const [council] = authorities();
  expect(await run({ authority: other.address })).toMatch(
    new RegExp(`^1: --authority: attestor .* is ${council}'s to upgrade, .* use it as --payer-key`),
  );
  expect(await run({ final: true })).toMatch(/^1: --final: attestor .*'s to upgrade/);
  expect(await run({ final: true, authority: other.address })).toMatch(
    /^64: --authority and --final: give one of the two/,
  );
  expect(await run({ authority: "vault" })).toMatch(/^64: --authority: expected .* base58 address/);
}, 60_000);

test("--final asks for the word, and then nobody can upgrade the programs", async () => {
  const council = cluster.path("council.json");
  const options = (yes: boolean) =>
    cluster.options({ "payer-key": council, final: true, airdrop: true, sbpf: "v0", yes });
  const before = authorities();
  const asked: Array<string> = [];
  const answering = (answer: string) => ({
    say: () => {},
    ask: (question: string) => {
      asked.push(question);
      return answer;
    },
  });
  expect(await refusalOf(() => runDeploy(options(false), answering("y")))).toMatch(
    /^2: stopped; nothing was sent/,
  );
  expect(asked.join("\n")).toContain("Type final");
  expect(await refusalOf(() => deploy(options(false)))).toMatch(/^2: nobody can agree/);
  expect(authorities()).toEqual(before);
  await runDeploy(options(false), answering("final"));
  expect(authorities()).toEqual([null, null]);
  expect((await deploy(options(true))).said).toContain("spent 0 lamports");
  expect(
    await refusalOf(() => deploy(cluster.options({ "payer-key": council, sbpf: "v3" }))),
  ).toMatch(/^1: attestor: .* can be upgraded by nobody any more/);
}, 60_000);
