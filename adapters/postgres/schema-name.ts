import { SQL } from "bun";

/** Whether a schema's name needs no quoting and fits (PostgreSQL manual, 4.1.1), also with what is added to it. */
export const isSchemaName = (name: string): boolean => /^[a-z_][a-z0-9_]{0,49}$/.test(name);

/**
 * Whether Bun's client can take an address apart: it throws for some parameters, and for a percent sign that encodes
 * nothing. Opens nothing.
 */
export const isDatabaseAddress = ({ href }: URL): boolean => {
  try {
    void new SQL(href).close();
    return true;
  } catch {
    return false;
  }
};
