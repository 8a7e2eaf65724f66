import { type Address, address } from "../../domain/address.ts";
import { type Hash32, hash32ToBytes } from "../../domain/hash32.ts";
import {
  type AccountMeta,
  AccountRole,
  type Instruction,
} from "../../domain/ledger/instruction.ts";
import { fieldsOf, fieldWriter } from "../accounts/byte-fields.ts";

type ValueOf = {
  readonly u8: number;
  readonly u32: number;
  readonly u64: bigint;
  readonly i64: bigint;
  readonly bool: boolean;
  readonly address: Address;
  readonly hash: Hash32;
  readonly bytes: Uint8Array;
  readonly string: string;
  /** Bytes at the end that say their own length before them (u32). */
  readonly tail: Uint8Array;
};

type Argument = { readonly type: keyof ValueOf; readonly at: number; readonly size: number };

type Place = {
  readonly place: number;
  readonly role: keyof typeof AccountRole;
  readonly optional?: true;
  /** The only address that is allowed at this place. */
  readonly address?: string;
};

/** An instruction as `core/protocol/generated/` describes it. */
export type InstructionLayout = {
  /** The first eight bytes of the data. */
  readonly discriminator: ReadonlyArray<number>;
  /** Bytes of the data, without those of a text or tail at its end. */
  readonly length: number;
  readonly args: Readonly<Record<string, Argument>>;
  /** By the IDL's names, in the order of their places. */
  readonly accounts: Readonly<Record<string, Place>>;
};

/** An instruction's arguments by name. */
export type ArgsOf<Layout extends InstructionLayout> = {
  readonly [Name in keyof Layout["args"]]: ValueOf[Layout["args"][Name]["type"]];
};

type Chosen<Accounts> = {
  [Name in keyof Accounts]: Accounts[Name] extends { readonly address: string }
    ? never
    : Accounts[Name] extends { readonly optional: true }
      ? never
      : Name;
}[keyof Accounts];

type Optional<Accounts> = {
  [Name in keyof Accounts]: Accounts[Name] extends { readonly optional: true } ? Name : never;
}[keyof Accounts];

/** An instruction's accounts by name, without those whose address is fixed. An optional account may be left out. */
export type AccountsOf<Layout extends InstructionLayout> = {
  readonly [Name in Chosen<Layout["accounts"]>]: Address;
} & { readonly [Name in Optional<Layout["accounts"]>]?: Address | undefined };

const utf8 = new TextEncoder();

type Compiled = {
  readonly discriminator: Uint8Array;
  readonly args: ReadonlyArray<readonly [name: string, argument: Argument]>;
  readonly places: ReadonlyArray<{
    readonly name: string;
    readonly role: AccountRole;
    readonly optional: boolean;
    readonly only: AccountMeta | undefined;
  }>;
};

const compiled = new WeakMap<InstructionLayout, Compiled>();

/** A layout's parts as lists, made once, because doing it for every instruction would be most of the cost. */
const partsOf = (layout: InstructionLayout): Compiled => {
  const known = compiled.get(layout);
  if (known !== undefined) return known;
  const parts: Compiled = {
    discriminator: Uint8Array.from(layout.discriminator),
    args: Object.entries(layout.args),
    places: Object.entries(layout.accounts).map(([name, place]) => {
      const role = AccountRole[place.role];
      const only =
        place.address === undefined ? undefined : { address: address(place.address), role };
      return { name, role, optional: place.optional === true, only };
    }),
  };
  compiled.set(layout, parts);
  return parts;
};

const metaOf = (
  program: Address,
  { name, role, optional, only }: Compiled["places"][number],
  given: Address | undefined,
): AccountMeta => {
  if (only !== undefined) return only;
  if (given !== undefined) return { address: given, role };
  if (optional) return { address: program, role: AccountRole.readonly };
  throw new Error(`the account ${name} is missing`);
};

/** The data of an instruction: its first eight bytes, then the arguments in borsh. */
const encodeArgs = (
  layout: InstructionLayout,
  values: Readonly<Record<string, unknown>>,
): Uint8Array => {
  const { discriminator, args } = partsOf(layout);
  let { length } = layout;
  for (const [name, { type }] of args) {
    if (type === "string") length += utf8.encode(values[name] as string).length;
    if (type === "tail") length += (values[name] as Uint8Array).length;
  }
  const writer = fieldWriter(length).bytes(discriminator);
  for (const [name, { type }] of args) {
    const value = values[name];
    switch (type) {
      case "u8":
      case "u32":
        writer[type](value as number);
        break;
      case "u64":
      case "i64":
        writer[type](value as bigint);
        break;
      case "bool":
        writer.u8(value === true ? 1 : 0);
        break;
      case "address":
        writer.address(value as Address);
        break;
      case "hash":
        writer.bytes(hash32ToBytes(value as Hash32));
        break;
      case "bytes":
        writer.bytes(value as Uint8Array);
        break;
      case "string": {
        const text = utf8.encode(value as string);
        writer.u32(text.length).bytes(text);
        break;
      }
      case "tail": {
        const bytes = value as Uint8Array;
        writer.u32(bytes.length).bytes(bytes);
        break;
      }
    }
  }
  return writer.done();
};

/**
 * An instruction of `program` with these accounts and arguments, each in its place. @throws Error when an account is
 * missing.
 */
export const encodeInstruction = <Layout extends InstructionLayout>(
  program: Address,
  layout: Layout,
  accounts: AccountsOf<Layout>,
  args: ArgsOf<Layout>,
): Instruction => {
  const given: Readonly<Record<string, Address | undefined>> = accounts;
  return {
    programAddress: program,
    accounts: partsOf(layout).places.map((place) => metaOf(program, place, given[place.name])),
    data: encodeArgs(layout, args),
  };
};

const text = new TextDecoder();

const decodeArg = (data: Uint8Array, { type, at, size }: Argument): ValueOf[keyof ValueOf] => {
  const fields = fieldsOf(data);
  switch (type) {
    case "u8":
    case "u32":
    case "u64":
    case "i64":
    case "address":
    case "hash":
      return fields[type](at);
    case "bool":
      return fields.u8(at) === 1;
    case "bytes":
      return fields.bytes(at, size);
    case "string":
      return text.decode(fields.bytes(at + size, fields.u32(at)));
    case "tail":
      return fields.bytes(at + size, fields.u32(at));
  }
};

/**
 * Whether data has this instruction's discriminator and length; a text or tail, always the last argument, says its
 * own.
 */
export const isInstruction = (layout: InstructionLayout, data: Uint8Array): boolean => {
  const { discriminator, length } = layout;
  if (data.length < length || discriminator.some((byte, i) => data[i] !== byte)) return false;
  const last = partsOf(layout).args.at(-1)?.[1];
  const ofLast = last?.type === "string" || last?.type === "tail" ? fieldsOf(data).u32(last.at) : 0;
  return data.length === length + ofLast;
};

/** The arguments in an instruction's data. Call `isInstruction` first. */
export const decodeArgs = <Layout extends InstructionLayout>(
  layout: Layout,
  data: Uint8Array,
): ArgsOf<Layout> =>
  Object.fromEntries(
    partsOf(layout).args.map(([name, argument]) => [name, decodeArg(data, argument)]),
  ) as ArgsOf<Layout>;
