import { expect, test } from "bun:test";
import { signedTransaction } from "../../../adapters/local-ledger/genesis/signed-transaction.ts";
import { openStage } from "../../../app/demo/stage.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { ledgerSignatureFromBytes } from "../../../core/domain/ledger/signature.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { registerMerchantInstruction } from "../../../core/protocol/instructions/attestor-instructions.ts";
import { latestBlockhash, until } from "../support/running-service.ts";
import { MAIN } from "../support/service-process.ts";
import { silentNarrator } from "../commands/silent-narrator.ts";
import { startedServices, synced } from "../support/started-services.ts";

const { alone, start } = startedServices();

test.concurrent("a service asked to stop answers the requests it has begun", async () => {
  const service = start(await alone());
  const url = await service.url;
  await synced(url);
  const { parties } = await openStage(url, silentNarrator);
  const register = registerMerchantInstruction(LOCAL_DEPLOYMENT, {
    payer: parties.merchant.address,
    merchant: parties.merchant.address,
    attestor: parties.attestor.address,
    name: "Late Quotes",
  });
  const bytes = signedTransaction({
    payer: parties.merchant,
    instructions: [register],
    blockhash: await latestBlockhash(url),
  });
  // A confirmation takes until the slot ends, so the request is still open when the service is asked to stop.
  const relayed = fetch(`${url}/v1/relay`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ signed_transaction: encodeBase64(bytes), confirm: true }),
  });
  const signature = ledgerSignatureFromBytes(bytes.slice(1, 65));
  await until(
    "the relay has its request",
    () => fetch(`${url}/v1/relay/${signature}`).then(({ status }) => status),
    (status) => status === 200,
  );
  service.kill("SIGTERM");
  expect((await relayed).status).toBe(202);
  expect((await service.ended).code).toBe(0);
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
