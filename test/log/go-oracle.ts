import { existsSync } from "node:fs";
import { join } from "node:path";

/** A case for test/log/go; the members that its kind needs. */
export type Question = {
  readonly kind: "grow" | "inclusion" | "consistency" | "note" | "tiles" | "account" | "fsck";
  readonly leaves?: number;
  readonly size?: number;
  readonly index?: number;
  readonly old?: number;
  /** Hashes in base64. */
  readonly root?: string;
  readonly oldRoot?: string;
  readonly leaf?: string;
  readonly proof?: ReadonlyArray<string>;
  readonly note?: string;
  readonly keys?: ReadonlyArray<string>;
  readonly folder?: string;
  /** The bytes of the custody program's configuration account, in base64, and those of an earlier one. */
  readonly account?: string;
  readonly before?: string;
  /** Leaves in base64, of the events between them. */
  readonly entries?: ReadonlyArray<string>;
};

/** What Go says of a case. */
export type Answer = {
  readonly verifies: boolean;
  /** Whether it is what Go makes itself. */
  readonly same: boolean;
  readonly read: string;
  readonly names: ReadonlyArray<string> | null;
  readonly why: string;
};

/** Where Go puts itself when it is not on the PATH. */
const USUAL_GO = "/usr/local/go/bin/go";

/** The Go command, undefined where there is none. */
export const findGo = (): string | undefined =>
  Bun.which("go") ?? (existsSync(USUAL_GO) ? USUAL_GO : undefined);

/** Builds the oracle into a folder and starts it. @throws Error with Go's words when it cannot be built. */
export const startOracle = async (go: string, folder: string) => {
  const binary = join(folder, "oracle");
  const build = Bun.spawn([go, "build", "-o", binary, "."], {
    cwd: join(import.meta.dir, "go"),
    stdout: "inherit",
    stderr: "inherit",
  });
  if ((await build.exited) !== 0) throw new Error("the oracle in test/log/go was not built");
  const child = Bun.spawn([binary], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let buffered = "";
  const line = async (): Promise<string> => {
    for (;;) {
      const end = buffered.indexOf("\n");
      if (end >= 0) {
        const found = buffered.slice(0, end);
        buffered = buffered.slice(end + 1);
        return found;
      }
      const { value, done } = await reader.read();
      if (done) throw new Error("the oracle ended");
      buffered += decoder.decode(value, { stream: true });
    }
  };
  return {
    /** Go's answers, in the order of the questions. */
    ask: async (questions: ReadonlyArray<Question>): Promise<ReadonlyArray<Answer>> => {
      const answers: Array<Answer> = [];
      for (let first = 0; first < questions.length; first += 200) {
        const some = questions.slice(first, first + 200);
        void child.stdin.write(some.map((each) => `${JSON.stringify(each)}\n`).join(""));
        await child.stdin.flush();
        for (const _ of some) answers.push(JSON.parse(await line()) as Answer);
      }
      return answers;
    },
    stop: async (): Promise<void> => {
      await child.stdin.end();
      await child.exited;
    },
  };
};

/** The running oracle. */
export type Oracle = Awaited<ReturnType<typeof startOracle>>;
