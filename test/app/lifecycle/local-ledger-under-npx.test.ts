import { expect, test } from "bun:test";
import packageJson from "../../../package.json" with { type: "json" };
import { temporaryDirectory } from "../support/running-service.ts";

/** The file that `bun run local-ledger` runs. */
const SCRIPT = packageJson.scripts["local-ledger"].replace(/^bun /, "");

/** The processes of npx: one of that name, a shell that forwards no signal, then the command. */
const underNpx = (command: string) =>
  Bun.spawn(
    ["bash", "-c", 'exec -a "npm exec bun" bash -c "$0"', `sh -c '${command}; true' & wait`],
    { cwd: `${import.meta.dir}/../../..`, stdout: "pipe", stderr: "pipe" },
  );

test.if(process.platform === "linux")(
  "ending npx does not leave the local ledger behind",
  async () => {
    const directory = await temporaryDirectory();
    const npx = underNpx(
      `"${process.execPath}" ${SCRIPT} --no-demo --port 0 --data-dir "${directory.path}"`,
    );
    const lines = npx.stdout.pipeThrough(new TextDecoderStream()).getReader();
    // Standard output ends when the last process that holds it has ended: the ledger.
    for (let part = await lines.read(); !part.done; part = await lines.read())
      if (part.value.includes('"ready":true')) npx.kill("SIGTERM");
    expect(npx.killed).toBe(true);
    await directory.remove();
  },
  30_000,
);

test("its help ends by itself, under npx too", async () => {
  const npx = underNpx(`"${process.execPath}" ${SCRIPT} --help`);
  expect(await new Response(npx.stdout).text()).toContain("--data-dir");
  expect(await npx.exited).toBe(0);
}, 60_000);
