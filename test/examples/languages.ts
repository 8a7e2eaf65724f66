const examples = new URL("../../examples/", import.meta.url).pathname;

type Command = ReadonlyArray<string>;
/** One language's examples: how each role is run, and which of the tools that they need is absent. */
export type Language = {
  readonly name: string;
  readonly agent: Command;
  readonly merchant: Command;
  readonly passerBy: Command | null;
  readonly missing: string | undefined;
};

const works = (...command: Command): boolean => {
  try {
    return Bun.spawnSync([...command], { stdout: "ignore", stderr: "ignore" }).success;
  } catch {
    return false;
  }
};

/** The Python that runs the examples: `PYTHON`, or `python3`. */
const python = process.env["PYTHON"] ?? "python3";

/** The sessions' example, in Python alone. */
export const SESSION: Command = [python, `${examples}session.py`];

/** Every language of the examples, with what is absent here. */
export const languages = (): ReadonlyArray<Language> => [
  {
    name: "TypeScript",
    agent: ["bun", `${examples}agent.ts`],
    merchant: ["bun", `${examples}merchant.ts`],
    passerBy: ["bun", `${examples}passer_by.ts`],
    missing: undefined,
  },
  {
    name: "Python",
    agent: [python, `${examples}agent.py`],
    merchant: [python, `${examples}merchant.py`],
    passerBy: [python, `${examples}passer_by.py`],
    missing: works(python, "-c", "import solders") ? undefined : `solders for ${python}`,
  },
  {
    name: "Go",
    agent: ["go", "-C", examples, "run", "agent.go", "transactions.go"],
    merchant: ["go", "-C", examples, "run", "merchant.go", "transactions.go"],
    passerBy: null,
    missing: works("go", "version") ? undefined : "Go",
  },
  {
    name: "shell",
    agent: ["bash", `${examples}agent.sh`],
    merchant: ["bash", `${examples}merchant.sh`],
    passerBy: null,
    missing: ["bash", "curl", "openssl", "xxd", "jq", "bc"].find((tool) => !works("which", tool)),
  },
];
