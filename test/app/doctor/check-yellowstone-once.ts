import { Effect } from "effect";
import { checkYellowstone } from "../../../app/doctor/check-yellowstone.ts";
import { finding } from "../../../app/doctor/finding.ts";

// Run as a process: prints the finding about the Yellowstone server at argv[2].
const url = new URL(process.argv[2] ?? "");
const found = await Effect.runPromise(
  finding("yellowstone", checkYellowstone({ url, tokenFile: null }, [])),
);
process.stdout.write(JSON.stringify(found));
