import { recordedFiles, recordScenes } from "./recorded-files.ts";
import { VECTORS, writeFiles } from "./vector-folder.ts";

// Records every answer, into test/vectors/http-answers or into the folder of the first argument.
await writeFiles(process.argv[2] ?? VECTORS, recordedFiles(await recordScenes()));
