import { Exit } from "effect";
import { openIndexOfNode } from "../../simulation/index-of-node.ts";

// Run as a process by kill-during-sync: syncs the index at argv[3] from the node at argv[2] once, and
// says when it begins, so that the test can kill it after that.
const [url = "", path = ""] = process.argv.slice(2);
const index = await openIndexOfNode({ url, path });
process.stdout.write("begins\n");
const exit = await index.sync();
await index.close();
process.exit(Exit.isSuccess(exit) ? 0 : 1);
