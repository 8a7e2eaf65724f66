import { connect, type ConnectOptions, type SettlementClient } from "../connect.ts";
import { required } from "./command-line.ts";
import { readInput } from "./read-input.ts";

/** The options of each command that asks a service. */
export const SERVICE_OPTIONS = {
  service: { type: "string" },
  trust: { type: "string" },
} as const;

/** What help says of these options. */
export const SERVICE_HELP = `  --service URL    the service, http or https
  --trust FILE     its /.well-known/evidence-trust.json, obtained beforehand and kept: what is believed, whatever the service says later`;

/** A client of the service that the options name. @throws SettlementError when one is missing or wrong. */
export const connectBy = async (
  values: { readonly service?: string | undefined; readonly trust?: string | undefined },
  more: Omit<ConnectOptions, "trust"> = {},
): Promise<SettlementClient> => {
  const url = required(values.service, "--service", "the service's address");
  const from = required(values.trust, "--trust", "the file of the service's trust document");
  const trust = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await readInput(from));
  return connect(url, { ...more, trust });
};
