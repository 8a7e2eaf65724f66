// Runs Surfpool, whose addon the first argument names, and prints its address. It ends when its standard input does.
import { createRequire } from "node:module";

type Surfnet = { readonly rpcUrl: string; readonly drainEvents: () => unknown };
type Addon = {
  readonly Surfnet: { readonly startWithConfig: (config: object) => Surfnet };
};

const [, , file] = process.argv;
if (file === undefined) throw new Error("name the addon's file");
const { Surfnet } = createRequire(import.meta.url)(file) as Addon;
// By default its clock stands still between transactions, and a slot counts as one millisecond.
const node = Surfnet.startWithConfig({
  offline: true,
  port: 0,
  blockProductionMode: "clock",
  slotTimeMs: 400,
});
process.stdout.write(`${node.rpcUrl}\n`);
// Without a reader its queue of events fills up, and it stops.
setInterval(() => node.drainEvents(), 100);
process.stdin.on("end", () => process.exit(0)).resume();
