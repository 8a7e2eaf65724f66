import { sha256 } from "../../core/domain/sha256.ts";

const discriminator = (preimage: string): Uint8Array =>
  sha256(new TextEncoder().encode(preimage)).slice(0, 8);

/** `SHA-256("global:<name>")[0..8]`: the first bytes of an instruction's data, as Anchor has them. */
export const instructionDiscriminator = (name: string): Uint8Array =>
  discriminator(`global:${name}`);

/** `SHA-256("account:<Name>")[0..8]`: the first bytes of an account's data, as Anchor has them. */
export const accountDiscriminator = (name: string): Uint8Array => discriminator(`account:${name}`);

/** `SHA-256("event:<Name>")[0..8]`: the first bytes of an event's log data, as Anchor has them. */
export const eventDiscriminator = (name: string): Uint8Array => discriminator(`event:${name}`);
