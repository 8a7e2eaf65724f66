import { LOCAL_DEPLOYMENT } from "../core/protocol/addresses/local-deployment.ts";

/**
 * The part of Anchor's IDL (spec 0.1.0) that this project uses. The two `*.idl.json` files are the
 * source of every number that the C programs and their clients must agree on.
 */
export type Idl = {
  /** The program's id on a local ledger; clients of other clusters set their own. */
  readonly address: string;
  readonly metadata: { readonly name: string };
  readonly instructions: ReadonlyArray<IdlInstruction>;
  readonly accounts: ReadonlyArray<IdlTag>;
  readonly events: ReadonlyArray<IdlTag>;
  readonly errors: ReadonlyArray<{
    readonly code: number;
    readonly name: string;
    readonly msg: string;
  }>;
  readonly types: ReadonlyArray<IdlDefinition>;
  readonly constants: ReadonlyArray<{
    readonly name: string;
    readonly type: IdlType;
    readonly value: string;
  }>;
};

/** An instruction: its data is the discriminator (8 bytes), then the arguments in borsh. */
export type IdlInstruction = {
  readonly name: string;
  readonly discriminator: ReadonlyArray<number>;
  readonly accounts: ReadonlyArray<IdlAccount>;
  readonly args: ReadonlyArray<IdlField>;
};

/** An account that an instruction takes. */
type IdlAccount = {
  readonly name: string;
  readonly writable?: boolean;
  readonly signer?: boolean;
  /** Whether the program's own id may stand in its place, for none. */
  readonly optional?: boolean;
  /** The one address that this account may have on the IDL's ledger, when there is only one. */
  readonly address?: string;
  /** From what this account's address is derived; by the program itself unless `program` says otherwise. */
  readonly pda?: { readonly seeds: ReadonlyArray<IdlSeed>; readonly program?: IdlSeed };
  /** Accounts of the instruction that have this one's address in a field of its name. */
  readonly relations?: ReadonlyArray<string>;
};

/**
 * A seed of a derived address: bytes, an argument, an account's address, or, as `escrow.mint`, an address in a field of
 * an account that is of the type `account`.
 */
export type IdlSeed =
  | { readonly kind: "const"; readonly value: ReadonlyArray<number> }
  | { readonly kind: "arg"; readonly path: string }
  | { readonly kind: "account"; readonly path: string; readonly account?: string };

/** An account or event: its bytes are the discriminator (8), then the struct of the same name. */
export type IdlTag = { readonly name: string; readonly discriminator: ReadonlyArray<number> };

/** A struct field or an argument. */
export type IdlField = { readonly name: string; readonly type: IdlType };

/**
 * Integers are little-endian; a `bool` is a byte, 0 or 1; `string` and `bytes` are a u32 length and that many bytes.
 */
export type IdlType =
  | "bool"
  | "u8"
  | "u32"
  | "u64"
  | "i64"
  | "pubkey"
  | "string"
  | "bytes"
  | { readonly array: readonly ["u8", number] }
  | { readonly array: readonly [{ readonly array: readonly ["u8", 32] }, number] }
  | { readonly defined: { readonly name: string } };

/** A struct, or an enum whose variants carry nothing and take one byte. */
type IdlDefinition = {
  readonly name: string;
  readonly type:
    | { readonly kind: "struct"; readonly fields: ReadonlyArray<IdlField> }
    | { readonly kind: "enum"; readonly variants: ReadonlyArray<{ readonly name: string }> };
};

/** The text as an IDL of one of this project's programs. */
export const parseIdl = (json: string): Idl => JSON.parse(json) as Idl;

const OWN_PROGRAMS: ReadonlyArray<string> = Object.values(LOCAL_DEPLOYMENT);

/**
 * The one address that an account may have on every ledger; undefined for this project's own programs, whose ids
 * differ.
 */
export const fixedAddress = ({ address }: IdlAccount): string | undefined =>
  address === undefined || OWN_PROGRAMS.includes(address) ? undefined : address;

/** `createEscrow`, `CreateEscrow` and `create_escrow` as `CREATE_ESCROW`. */
export const constantCase = (name: string): string =>
  name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase();

/** Whether a value says its own length, in the u32 before it; such a one comes last. */
export const hasOwnLength = (type: IdlType): type is "string" | "bytes" =>
  type === "string" || type === "bytes";

/** Bytes of a value; of one that says its own length, those of that length. */
export const sizeOf = (type: IdlType): number => {
  if (type === "u8" || type === "bool") return 1;
  if (type === "u32" || hasOwnLength(type)) return 4;
  if (type === "u64" || type === "i64") return 8;
  if (type === "pubkey") return 32;
  if ("defined" in type) return 1;
  const [element, length] = type.array;
  return element === "u8" ? length : 32 * length;
};

const DISCRIMINATOR_BYTES = 8;

/** Each field with where it begins behind the discriminator, and the length of all. */
export const placesOf = (fields: ReadonlyArray<IdlField>) => {
  let length = DISCRIMINATOR_BYTES;
  const places = fields.map(({ name, type }) => {
    const at = length;
    length += sizeOf(type);
    return { name, type, at };
  });
  return { places, length };
};

/**
 * The members of an account that captures, close_session and the settlement write, which the constant
 * `<ACCOUNT>_CHANGED_FIELDS` names; empty without it.
 */
export const changedFields = (idl: Idl, account: string): ReadonlyArray<IdlField> => {
  const named = idl.constants.find(
    ({ name }) => name === `${constantCase(account)}_CHANGED_FIELDS`,
  );
  if (named === undefined) return [];
  const names = (JSON.parse(named.value) as string).split(" ");
  const type = idl.types.find(({ name }) => name === account)?.type;
  const fields = type?.kind === "struct" ? type.fields : [];
  return names.map((name) => {
    const field = fields.find((each) => each.name === name);
    if (field === undefined) throw new Error(`${account} has no ${name}`);
    return field;
  });
};

/** Where captures, close_session and the settlement write in an account, in bytes. */
export const changedPlaces = (
  idl: Idl,
  account: string,
): ReadonlyArray<{ readonly at: number; readonly length: number }> => {
  const type = idl.types.find(({ name }) => name === account)?.type;
  const { places } = placesOf(type?.kind === "struct" ? type.fields : []);
  const written = new Set(changedFields(idl, account).map(({ name }) => name));
  return places.flatMap(({ name, type: of, at }) =>
    written.has(name) ? [{ at, length: sizeOf(of) }] : [],
  );
};
