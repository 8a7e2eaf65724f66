/**
 * The entry of the client package for Node, Bun and Deno: what keeps keys, payments and attestations in files, signers
 * elsewhere, and what they are to sign in words.
 */

export { attestationFiles } from "./attestation-files.ts";
export { commandSigner } from "./command-signer.ts";
export { fileJournal } from "./file-journal.ts";
export { createKeyFile, readKeyFile } from "./key-file.ts";
export { type KeySigner, keySigner } from "./key-file.ts";
export { sshAgentSigner } from "./ssh-agent-signer.ts";
export { transactionWords } from "../signing/describe-transaction.ts";
