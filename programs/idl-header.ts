import { addressToBytes, parseAddress } from "../core/domain/address.ts";
import {
  constantCase,
  fixedAddress,
  hasOwnLength,
  type Idl,
  type IdlField,
  type IdlInstruction,
  type IdlTag,
  changedFields,
} from "./idl.ts";

/**
 * The C header of an IDL: discriminators, account positions and flags, layouts, and, for the program
 * that defines `PROGRAM_<NAME>`, its errors, constants and fixed addresses. What the programs check is
 * therefore what the IDL says.
 */
export const headerOf = (idl: Idl): string =>
  [
    "#pragma once",
    "",
    `/* Generated from ${idl.metadata.name}.idl.json by build.ts. */`,
    "",
    '#include "../sdk/types.h"',
    "",
    ...idl.types.flatMap(({ name, type }) =>
      type.kind === "enum" ? enumOf(constantCase(name), type.variants) : [],
    ),
    ...idl.accounts.flatMap((tag) => taggedStruct(idl, "ACCOUNT", tag)),
    ...idl.events.flatMap((tag) => taggedStruct(idl, "EVENT", tag)),
    ...idl.instructions.flatMap(instructionLines),
    `#ifdef PROGRAM_${constantCase(idl.metadata.name)}`,
    "enum {",
    ...idl.errors.map(({ code, name }) => `  ERROR_${constantCase(name)} = ${code},`),
    "};",
    ...idl.constants.flatMap(({ name, type, value }) =>
      type === "string"
        ? []
        : type === "pubkey"
          ? addressLine(name, value)
          : `#define ${name} ${value}`,
    ),
    ...[...fixedAddresses(idl)].map(([name, value]) => addressLine(constantCase(name), value)),
    ...idl.accounts.flatMap((tag) => undoLines(idl, tag)),
    "#endif",
    "",
  ].join("\n");

const pascalCase = (name: string): string =>
  name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const wordLiteral = (bytes: ReadonlyArray<number> | Uint8Array): string => {
  const word = [...bytes].reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return `0x${word.toString(16).padStart(16, "0")}ull`;
};

const enumOf = (prefix: string, variants: ReadonlyArray<{ readonly name: string }>) => [
  `enum { ${variants.map(({ name }, i) => `${prefix}_${constantCase(name)} = ${i}`).join(", ")} };`,
  "",
];

const addressLine = (name: string, text: string): string => {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`${name} is not an address: ${text}`);
  const bytes = addressToBytes(address);
  const words = [0, 8, 16, 24].map((at) => wordLiteral(bytes.subarray(at, at + 8)));
  return `static const Pubkey ADDRESS_${name} = {{${words.join(", ")}}};`;
};

const fixedAddresses = (idl: Idl): ReadonlyMap<string, string> =>
  new Map(
    idl.instructions.flatMap(({ accounts }) =>
      accounts.flatMap((account) => {
        const address = fixedAddress(account);
        return address === undefined ? [] : [[account.name, address]];
      }),
    ),
  );

type Member = { readonly declaration: string; readonly size: number; readonly align: number };

const member = ({ name, type }: IdlField): Member => {
  const scalar = (c: string, size: number, align = size): Member => ({
    declaration: `${c} ${name};`,
    size,
    align,
  });
  if (type === "u8" || type === "bool") return scalar("u8", 1);
  if (type === "u32") return scalar("u32", 4);
  if (type === "u64" || type === "i64") return scalar(type, 8);
  if (type === "pubkey") return scalar("Pubkey", 32, 8);
  if (type === "string" || type === "bytes")
    throw new Error(`${name}: ${type} has no fixed layout`);
  if ("defined" in type) return scalar("u8", 1);
  const [element, length] = type.array;
  if (element !== "u8")
    return { declaration: `Bytes32 ${name}[${length}];`, size: 32 * length, align: 8 };
  if (length === 32 || length === 64) return scalar(`Bytes${length}`, length, 8);
  return { declaration: `u8 ${name}[${length}];`, size: length, align: 1 };
};

/**
 * A struct laid out as borsh is: packed only where a field would not fall on its alignment by itself, since the
 * compiler reads a packed integer byte by byte. The assertion is on the last field's end, so a padded tail is no
 * matter.
 */
const structOf = (name: string, fields: ReadonlyArray<IdlField>) => {
  const members = fields.map(member);
  let at = 0;
  let aligned = true;
  for (const { size, align } of members) {
    if (at % align !== 0) aligned = false;
    at += size;
  }
  const packed = aligned ? "" : "__attribute__((packed)) ";
  const last = fields.at(-1)?.name ?? "";
  return [
    "typedef struct {",
    ...members.map(({ declaration }) => `  ${declaration}`),
    `} ${packed}${name};`,
    `_Static_assert(__builtin_offsetof(${name}, ${last}) == ${at - (members.at(-1)?.size ?? 0)}, "laid out as borsh");`,
    `#define ${constantCase(name)}_SIZE ${at}`,
  ];
};

const DISCRIMINATOR: IdlField = { name: "discriminator", type: "u64" };

const taggedStruct = (idl: Idl, kind: "ACCOUNT" | "EVENT", { name, discriminator }: IdlTag) => {
  const type = idl.types.find((definition) => definition.name === name)?.type;
  if (type?.kind !== "struct") throw new Error(`${name} has no struct`);
  return [
    `#define ${kind}_${constantCase(name)} ${wordLiteral(discriminator)}`,
    ...structOf(name, [DISCRIMINATOR, ...type.fields]),
    "",
  ];
};

/** The zero of a field in C. */
const zeroOf = (field: IdlField): string => {
  const { declaration, size } = member(field);
  const type = declaration.split(" ")[0];
  return size > 8 ? `(${type}){{0}}` : "0";
};

/**
 * The function that puts zeros into what captures, close_session and the settlement write in an account; none for an
 * account without such members.
 */
const undoLines = (idl: Idl, { name }: IdlTag) => {
  const written = changedFields(idl, name);
  if (written.length === 0) return [];
  return [
    `/* Gives ${name} back the bytes of its creation. */`,
    `static inline void undo_${name.toLowerCase()}(${name} *account) {`,
    ...written.map((field) => `  account->${field.name} = ${zeroOf(field)};`),
    "}",
  ];
};

const instructionLines = ({ name, discriminator, accounts, args }: IdlInstruction) => {
  const prefix = constantCase(name);
  const mask = (flag: "signer" | "writable"): string =>
    `0x${accounts.reduce((bits, account, i) => (account[flag] === true && account.optional !== true ? bits | (1 << i) : bits), 0).toString(16)}`;
  return [
    `#define IX_${prefix} ${wordLiteral(discriminator)}`,
    `#define ${prefix}_SIGNERS ${mask("signer")}`,
    `#define ${prefix}_WRITABLES ${mask("writable")}`,
    "enum {",
    ...accounts.map((account) => `  ${prefix}_${constantCase(account.name)},`),
    `  ${prefix}_ACCOUNTS`,
    "};",
    ...structOf(`${pascalCase(name)}Args`, [
      DISCRIMINATOR,
      ...args.filter(({ type }) => !hasOwnLength(type)),
    ]),
    "",
  ];
};
