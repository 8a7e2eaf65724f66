import { Exit } from "effect";
import { openIndexOfNode } from "../../../simulation/index-of-node.ts";
import { tellBatches, tellStep } from "./sync-steps.ts";

// Run as a process by kill-during-sync. Syncs the index at argv[3] once from the node at argv[2] and prints each step,
// so that the test can kill it at a known point.
const [url = "", path = ""] = process.argv.slice(2);
const index = await openIndexOfNode({ url, path, writer: tellBatches });
tellStep("open");
const exit = await index.sync();
tellStep("end");
await index.close();
process.exit(Exit.isSuccess(exit) ? 0 : 1);
