import { EX_USAGE, exitWith } from "./command-line.ts";

/** A node's address; ends the process when the text is not one. The message does not repeat the text, because it can hold a key. */
export const nodeAddress = (rpc: string): URL => {
  const url = URL.parse(rpc);
  return url !== null && ["http:", "https:"].includes(url.protocol)
    ? url
    : exitWith(EX_USAGE, "--rpc: expected the http:// or https:// address of a node");
};
