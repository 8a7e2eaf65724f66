import { projectCommand } from "../../core/domain/project-command.ts";
import type { RunningService } from "../serve.ts";

/**
 * What a service says on a terminal once it listens: where its page, reference and ledger are, and what to try next.
 * One line each, with a newline at the end.
 */
export const welcome = (
  {
    url,
    rpcUrl = "",
    ownWitnesses = [],
  }: Pick<RunningService, "url"> & Partial<Pick<RunningService, "rpcUrl" | "ownWitnesses">>,
  ledger: "embedded" | "remote",
): string => {
  const at = url === "http://127.0.0.1:3000" ? "" : ` --service ${url}`;
  const lines =
    ledger === "embedded"
      ? [
          ["page", url],
          ["reference", `${url}/docs`],
          ["ledger", `${rpcUrl} (JSON-RPC, with a faucet and demo data)`],
          ...(ownWitnesses.length === 0
            ? []
            : [
                [
                  "witnesses",
                  `${ownWitnesses.join(", ")} (all yours: they show how it works, and no independence)`,
                ],
              ]),
          ["try", projectCommand(`demo${at}`)],
          ["or", `curl -s ${url}/v1/indexer`],
        ]
      : [
          ["page", url],
          ["reference", `${url}/docs`],
          ["ready", `curl -s ${url}/ready`],
          ["trouble", projectCommand("doctor")],
        ];
  return `\n${lines.map(([name = "", text = ""]) => `  ${name.padEnd(10)} ${text}\n`).join("")}\n`;
};
