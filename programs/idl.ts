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
 * A seed of a derived address: bytes, an argument, an account's address, or, as `escrow.mint`, an address in a field of an account
 * that is of the type `account`.
 */
export type IdlSeed =
  | { readonly kind: "const"; readonly value: ReadonlyArray<number> }
  | { readonly kind: "arg"; readonly path: string }
  | { readonly kind: "account"; readonly path: string; readonly account?: string };

/** An account or event: its bytes are the discriminator (8), then the struct of the same name. */
export type IdlTag = { readonly name: string; readonly discriminator: ReadonlyArray<number> };

/** A struct field or an argument. */
export type IdlField = { readonly name: string; readonly type: IdlType };

/** Integers are little-endian; a `bool` is a byte, 0 or 1; `string` is a u32 length and that many bytes. */
export type IdlType =
  | "bool"
  | "u8"
  | "u32"
  | "u64"
  | "i64"
  | "pubkey"
  | "string"
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

/** The one address that an account may have on every ledger; undefined for this project's own programs, whose ids differ. */
export const fixedAddress = ({ address }: IdlAccount): string | undefined =>
  address === undefined || OWN_PROGRAMS.includes(address) ? undefined : address;
