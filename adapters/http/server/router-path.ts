/** A path template in the router's form: `/v1/escrows/{pda}` becomes `/v1/escrows/:pda`. */
export const routerPath = (template: string): string => template.replace(/\{([^}]+)\}/g, ":$1");
