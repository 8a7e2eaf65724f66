import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AnchorIdl, rootNodeFromAnchor } from "@codama/nodes-from-anchor";
import { renderVisitor } from "@codama/renderers-js";
import { createNoopSigner, address as kitAddress } from "@solana/kit";
import { createFromRoot } from "codama";
import type { Address } from "../../../core/domain/address.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";

/** Values by the names that Codama gives them: the IDL's in camel case. */
export type Named = Readonly<Record<string, unknown>>;

type Codec = {
  readonly encode: (value: Named) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => Named;
};
type Builder = (input: Named) => Instruction | Promise<Instruction>;

const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const pascalCase = (name: string): string => {
  const camel = camelCase(name);
  return camel.slice(0, 1).toUpperCase() + camel.slice(1);
};

/** What Codama generated for one program; instructions and accounts go by their names in the IDL. */
export class GeneratedClient {
  readonly #module: Readonly<Record<string, unknown>>;

  constructor(module: Readonly<Record<string, unknown>>) {
    this.#module = module;
  }

  #codec(name: string): Codec {
    const made = this.#module[`get${name}Codec`] as (() => Codec) | undefined;
    if (made === undefined) throw new Error(`Codama generated no codec of ${name}`);
    return made();
  }

  /** The instruction with what the generated code fills in by itself. @throws Error when an input is missing. */
  async build(name: string, input: Named): Promise<Instruction> {
    const getter = `get${pascalCase(name)}Instruction`;
    const builder = (this.#module[`${getter}Async`] ?? this.#module[getter]) as Builder | undefined;
    if (builder === undefined) throw new Error(`Codama generated no ${name}`);
    const { programAddress, accounts, data } = await builder(input);
    return {
      programAddress,
      accounts: accounts.map(({ address, role }) => ({ address, role })),
      data: Uint8Array.from(data),
    };
  }

  /** The codec of an instruction's data. */
  instructionData(name: string): Codec {
    return this.#codec(`${pascalCase(name)}InstructionData`);
  }

  /** The codec of an account's data. */
  account(name: string): Codec {
    return this.#codec(name);
  }

  /** The names of an enum's variants, each at its number. */
  variants(name: string): Readonly<Record<number, string>> {
    return this.#module[name] as Readonly<Record<number, string>>;
  }

  /** The address of one of the program's own accounts. */
  async find(name: string, seeds: Named): Promise<Address> {
    const finder = this.#module[`find${pascalCase(name)}Pda`] as
      | ((seeds: Named) => Promise<readonly [Address, number]>)
      | undefined;
    if (finder === undefined) throw new Error(`Codama generated no address of ${name}`);
    const [address] = await finder(seeds);
    return address;
  }
}

/** An address as the generated code takes a signer. */
export const signerOf = (address: Address) => createNoopSigner(kitAddress(address));

const root = join(import.meta.dir, "../../..");

/**
 * Has Codama generate the TypeScript client of an IDL, by its defaults, into a temporary folder, and loads it. The
 * folder is gone afterwards.
 */
const generateClient = async (name: "custody" | "attestor"): Promise<GeneratedClient> => {
  const idl = (await Bun.file(join(root, "programs", `${name}.idl.json`)).json()) as AnchorIdl;
  const folder = await mkdtemp(join(tmpdir(), `codama-${name}-`));
  try {
    // Where the generated imports of @solana/kit resolve.
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    const options = {
      formatCode: false,
      generatedFolder: ".",
      kitImportStrategy: "rootOnly" as const,
      syncPackageJson: false,
    };
    const client = join(folder, "client");
    await createFromRoot(rootNodeFromAnchor(idl)).accept(renderVisitor(client, options));
    return new GeneratedClient((await import(join(client, "index.ts"))) as Record<string, unknown>);
  } finally {
    await rm(folder, { recursive: true });
  }
};

/** The clients of both programs, made once for all tests of a process. */
export const generated = {
  custody: await generateClient("custody"),
  attestor: await generateClient("attestor"),
} as const;
