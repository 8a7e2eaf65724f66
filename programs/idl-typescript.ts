import {
  constantCase,
  fixedAddress,
  type Idl,
  type IdlField,
  type IdlInstruction,
  type IdlTag,
  type IdlType,
  placesOf,
  changedPlaces,
  sizeOf,
} from "./idl.ts";

/**
 * The TypeScript tables of an IDL, as `core/protocol/generated/` keeps them: lengths and offsets of accounts, arguments
 * and accounts of instructions, errors and constants. What clients send and read is therefore what the IDL says.
 */
export const typescriptOf = (idl: Idl): string => {
  const program = idl.metadata.name;
  const prefix = program.toUpperCase();
  return [
    `/** Generated from programs/${program}.idl.json by \`bun run test:more build-programs\`. */`,
    "",
    "/** The program's accounts: first eight bytes, length, and where each field begins, in bytes. */",
    `export const ${prefix}_ACCOUNTS = {`,
    ...idl.accounts.map((tag) => accountLine(idl, tag)),
    "} as const;",
    "",
    ...idl.accounts.flatMap((tag) => changedLines(idl, tag)),
    "/** The program's instructions: first eight bytes, length without what says its own length at the end, arguments, and accounts in order. */",
    `export const ${prefix}_INSTRUCTIONS = {`,
    ...idl.instructions.flatMap(instructionLines),
    "} as const;",
    "",
    "/** The program's own errors. */",
    `export const ${prefix}_ERRORS = [`,
    ...idl.errors.map(
      ({ code, name, msg }) =>
        `  { code: ${code}, program: "${program}", name: "${name}", message: ${JSON.stringify(msg)} },`,
    ),
    "] as const;",
    "",
    "/** The numbers by which the program judges. */",
    `export const ${prefix}_CONSTANTS = {`,
    ...idl.constants.flatMap(({ name, type, value }) =>
      type === "pubkey" || type === "string"
        ? []
        : `  ${name}: ${type === "i64" ? `${value}n` : value},`,
    ),
    "} as const;",
    "",
  ].join("\n");
};

/** What TypeScript reads a value as. */
const kindOf = (type: IdlType): string => {
  if (type === "pubkey") return "address";
  if (type === "bytes") return "tail";
  if (typeof type === "string") return type;
  if ("defined" in type) return "u8";
  return type.array[1] === 32 ? "hash" : "bytes";
};

const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Each field by its name here, with where it begins, and the length of all. */
const placed = (fields: ReadonlyArray<IdlField>) => {
  const { places, length } = placesOf(fields);
  return {
    places: places.map(({ name, type, at }) => ({ name: camelCase(name), type, at })),
    length,
  };
};

const accountLine = (idl: Idl, { name, discriminator }: IdlTag): string => {
  const type = idl.types.find((definition) => definition.name === name)?.type;
  if (type?.kind !== "struct") throw new Error(`${name} has no struct`);
  const { places, length } = placed(type.fields);
  const at = places.map((place) => `${place.name}: ${place.at}`).join(", ");
  return `  ${name}: { discriminator: [${discriminator.join(", ")}], length: ${length}, at: { ${at} } },`;
};

/** Where captures, close_session and the settlement write in an account. */
const changedLines = (idl: Idl, { name }: IdlTag): ReadonlyArray<string> => {
  const places = changedPlaces(idl, name);
  if (places.length === 0) return [];
  return [
    `/** What captures, close_session and the settlement write in ${name}, in bytes. With zeros there they are the bytes of its creation. */`,
    `export const ${constantCase(name)}_CHANGED_FIELDS = [`,
    ...places.map(({ at, length }) => `  { at: ${at}, length: ${length} },`),
    "] as const;",
    "",
  ];
};

const ROLES = ["readonly", "writable", "readonlySigner", "writableSigner"] as const;

const instructionLines = ({ name, discriminator, accounts, args }: IdlInstruction) => {
  const { places, length } = placed(args);
  return [
    `  ${name}: {`,
    `    discriminator: [${discriminator.join(", ")}],`,
    `    length: ${length},`,
    `    args: {`,
    ...places.map(
      ({ name, type, at }) =>
        `      ${name}: { type: "${kindOf(type)}", at: ${at}, size: ${sizeOf(type)} },`,
    ),
    "    },",
    "    accounts: {",
    ...accounts.map((account, place) => {
      const { name, writable, signer, optional } = account;
      const address = fixedAddress(account);
      const role = ROLES[(writable === true ? 1 : 0) + (signer === true ? 2 : 0)];
      const only = address === undefined ? "" : `, address: "${address}"`;
      return `      ${name}: { place: ${place}, role: "${role}"${optional === true ? ", optional: true" : ""}${only} },`;
    }),
    "    },",
    "  },",
  ];
};
