import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { openStage } from "../../../app/demo/stage.ts";
import { latestBlockhash, until, synced } from "../support/running-service.ts";
import { MAIN } from "../support/service-process.ts";
import { silentNarrator } from "../commands/silent-narrator.ts";
import { openRegistration } from "../support/open-registration.ts";
import { startedServices } from "../support/started-services.ts";

const { alone, start } = startedServices();

test.concurrent("a service asked to stop answers the requests it has begun", async () => {
  const service = start(await alone());
  const url = await service.url;
  await synced(url);
  const { parties } = await openStage(url, silentNarrator);
  const { transaction, signature } = openRegistration(
    parties,
    await latestBlockhash(url),
    "Late Quotes",
  );
  // A confirmation takes until the slot ends, so the request is still open when the service is asked to stop.
  const relayed = fetch(`${url}/v1/relay`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ signed_transaction: transaction, confirm: true }),
  });
  await until(
    "the relay has its request",
    () => fetch(`${url}/v1/relay/${signature}`).then(({ status }) => status),
    (status) => status === 200,
  );
  service.kill("SIGTERM");
  expect((await relayed).status).toBe(202);
  const { code, stdout } = await service.ended;
  expect(code).toBe(0);
  const messages = stdout.trim().split("\n");
  expect(messages.at(-1)).toContain('"message":"stopped"');
  expect(messages.findIndex((line) => line.includes('"message":"stopping"'))).toBeGreaterThan(0);
}, 60_000);

test.concurrent("a service whose output nobody reads any more stops in order, and says why", async () => {
  const env = await alone();
  const command = `"${process.execPath}" "${MAIN}" | head -1; exit "\${PIPESTATUS[0]}"`;
  const piped = Bun.spawn(["bash", "-c", command], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  expect(await new Response(piped.stdout).text()).toContain('"message":"listening"');
  expect(await new Response(piped.stderr).text()).toBe(
    "The service has stopped: what read its output has ended. Send the output to a file, or keep its reader running\n",
  );
  expect(await piped.exited).toBe(1);
  // Stores that were closed leave no log of writes.
  expect(readdirSync(env.DATA_DIR).filter((name) => name.endsWith("-wal"))).toEqual([]);
}, 60_000);

test.concurrent.if(process.platform === "linux")(
  "killing npx does not leave the service behind",
  async () => {
    // The processes of npx: one of that name, a shell that forwards no signal, then the service.
    const below = `sh -c '"${process.execPath}" "${MAIN}"; true' & wait`;
    const npx = Bun.spawn(["bash", "-c", 'exec -a "npm exec bun" bash -c "$0"', below], {
      env: { PATH: process.env["PATH"] ?? "", ...(await alone()) },
      stdout: "pipe",
    });
    const lines = npx.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let said = "";
    for (let part = await lines.read(); !part.done; part = await lines.read()) {
      said += part.value;
      if (said.includes('"listening"')) npx.kill("SIGKILL");
    }
    expect(said).toContain('"message":"stopping","by":"the end of npx"');
  },
  60_000,
);
