import type { CommandIo } from "./command-io.ts";
import { required } from "./command-line.ts";
import { readInput } from "./read-input.ts";

/** The options of each command that asks a service. */
export const SERVICE_OPTIONS = {
  service: { type: "string" },
  trust: { type: "string" },
} as const;

/** What help says of these options. */
export const SERVICE_HELP = `  --service URL            the service, such as http://127.0.0.1:3000
  --trust FILE             its /.well-known/evidence-trust.json, obtained beforehand and kept: what is believed, whatever the service says later`;

/**
 * The service's address and the text of its trust document. @throws SettlementError when an option is missing or its
 * file cannot be read.
 */
export const serviceNamed = async (
  values: {
    readonly service?: string | undefined;
    readonly trust?: string | undefined;
  },
  io: CommandIo,
): Promise<{ readonly url: string; readonly trust: string }> => {
  const url = required(values.service, "--service", "the service's address");
  const from = required(values.trust, "--trust", "the file of the service's trust document");
  const trust = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await readInput(from, io));
  return { url, trust };
};
