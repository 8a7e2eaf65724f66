/** Whether a schema's name needs no quoting and fits (PostgreSQL manual, 4.1.1), also with what is added to it. */
export const isSchemaName = (name: string): boolean => /^[a-z_][a-z0-9_]{0,49}$/.test(name);
