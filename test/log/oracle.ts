import { env } from "node:process";

/** A question to the Go program of `go/`; `main.go` says which fields an operation takes. */
export type Question = { readonly op: string } & Readonly<Record<string, unknown>>;

/** What the Go program answers. Lists without members are left out. Hashes are base64. */
export type Answer = {
  readonly fault?: string;
  readonly verifies: boolean;
  readonly root?: string;
  readonly roots?: ReadonlyArray<string>;
  readonly proof?: ReadonlyArray<string>;
  readonly tiles?: ReadonlyArray<{ readonly path: string; readonly sha256: string }>;
  readonly note?: string;
  readonly text?: string;
  readonly names?: ReadonlyArray<string>;
  readonly keys?: ReadonlyArray<string>;
};

/** The whole number of an environment variable, which `run.ts` sets. @throws Error without one. */
export const fromRun = (name: "LOG_SEED" | "LOG_PROOFS" | "LOG_LEAVES" | "LOG_NOTES"): number => {
  const value = Number(env[name]);
  if (!Number.isSafeInteger(value))
    throw new Error(`run this by bun run test:log: ${name} is absent`);
  return value;
};

const linesOf = async function* (stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
};

/** Starts the compiled Go program. `ask` gives the answers in the order of the questions. */
export const startOracle = () => {
  const child = Bun.spawn([env["LOG_ORACLE"] ?? ""], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = linesOf(child.stdout);
  const answer = async (): Promise<Answer> => {
    const { done, value } = await lines.next();
    if (done === true) throw new Error("the Go program ended");
    return JSON.parse(value);
  };
  const ask = async (questions: ReadonlyArray<Question>): Promise<ReadonlyArray<Answer>> => {
    void child.stdin.write(questions.map((question) => `${JSON.stringify(question)}\n`).join(""));
    const flushed = child.stdin.flush();
    const answers: Array<Answer> = [];
    while (answers.length < questions.length) answers.push(await answer());
    await flushed;
    return answers;
  };
  const stop = async (): Promise<void> => {
    await child.stdin.end();
    await child.exited;
  };
  return { ask, stop };
};

/** The values in groups of at most 1,000: what is asked at once. */
export const inBatches = function* <A>(values: ReadonlyArray<A>): Generator<ReadonlyArray<A>> {
  for (let at = 0; at < values.length; at += 1000) yield values.slice(at, at + 1000);
};
