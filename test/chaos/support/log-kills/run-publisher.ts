import type { KillAim, Phase } from "./kill-switch.ts";
import { PHASES } from "./kill-switch.ts";

/** When the test kills the process: this long after it opened its store. */
export type KillTimer = { readonly afterMs: number };

/** How a process ended that publishes a log. */
export type PublisherEnd = {
  /** Null when it was killed. */
  readonly code: number | null;
  /** The phase in which the kill hit; null between two phases, and without a kill. */
  readonly phase: Phase | null;
  /** The texts of the checkpoints that it signed. */
  readonly signed: ReadonlyArray<string>;
  /** How many operations each phase had, when it was not killed. */
  readonly counts: Readonly<Record<string, number>> | null;
  /** How long it ran after it opened its store, milliseconds. */
  readonly tookMs: number;
};

const phaseNamed = (name: string | undefined): Phase | null =>
  PHASES.find((phase) => phase === name) ?? null;

/** Runs a process that publishes the log of the store in a folder, and that dies at `kill`; null for never. */
export const runPublisher = async (
  script: string,
  { url, folder }: { readonly url: string; readonly folder: string },
  kill: KillAim | KillTimer | null,
): Promise<PublisherEnd> => {
  const isTimed = kill !== null && "afterMs" in kill;
  const aim = JSON.stringify(isTimed ? null : kill);
  const child = Bun.spawn([process.execPath, script, url, folder, aim], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const signed: Array<string> = [];
  let counts: PublisherEnd["counts"] = null;
  let phase: Phase | null = null;
  let timer: Timer | undefined;
  let openedMs = performance.now();
  let pending = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (pending + chunk).split("\n");
    pending = lines.pop() ?? "";
    for (const line of lines) {
      const words = line.split(" ");
      if (line.startsWith("enters ")) phase = phaseNamed(words[1]);
      else if (line.startsWith("leaves ")) phase = null;
      else if (line.startsWith("dies in ")) phase = phaseNamed(words[2]);
      else if (line.startsWith("signs "))
        signed.push(Buffer.from(words[1] ?? "", "base64").toString());
      else if (line.startsWith("counts "))
        counts = JSON.parse(line.slice("counts ".length)) as Record<string, number>;
      else if (line === "opened") {
        openedMs = performance.now();
        if (isTimed) timer = setTimeout(() => child.kill("SIGKILL"), kill.afterMs);
      }
    }
  }
  await child.exited;
  clearTimeout(timer);
  const code = child.signalCode === "SIGKILL" ? null : child.exitCode;
  return { code, phase, signed, counts, tookMs: performance.now() - openedMs };
};
