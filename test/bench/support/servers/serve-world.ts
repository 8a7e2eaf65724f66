import { ChainNode } from "../../../world/chain-node.ts";
import { serveNode } from "../../../simulation/serve-node.ts";
import { worldOf } from "../../../simulation/world.ts";

// Run as a process: a node with argv[2] escrows. Prints its address.
const node = worldOf(Number(process.argv[2]));
const { url } = serveNode(new ChainNode(node).answer);
process.stdout.write(`${url}\n`);
