/** The entry of the client package for Node, Bun and Deno: what keeps keys and payments in files. */

export { fileJournal } from "./file-journal.ts";
export { createKeyFile, readKeyFile } from "./key-file.ts";
export { type KeySigner, keySigner } from "./key-signer.ts";
