import { Effect } from "effect";
import { logSignerFromFile } from "../../../adapters/signer/log-signer.ts";
import { LogSigner } from "../../../ports/log/log-signer.ts";

// Run as a process by log-signer.test.ts: with the key file argv[2], tries to remember a text of its own for each size
// up to argv[3], and prints the sizes that it won.
const [path = "", sizes = "0"] = process.argv.slice(2);

const winning = Effect.gen(function* () {
  const signer = yield* LogSigner;
  if (signer === null) throw new Error("there is a key");
  const { remembered, remember } = signer.key;
  const won: Array<number> = [];
  for (;;) {
    const before = yield* remembered;
    const size = Number(before?.split(" ")[0] ?? 0);
    if (size >= Number(sizes)) return won;
    if (yield* remember(before, `${size + 1} ${process.pid}`)) won.push(size + 1);
  }
});

const won = await Effect.runPromise(
  Effect.provide(winning, logSignerFromFile("log.example", path)),
);
process.stdout.write(JSON.stringify(won));
