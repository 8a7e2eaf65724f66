/** Where the service hands out its client. It is a path: a Host header must not say where software comes from. */
export const CLIENT_PACKAGE_PATH = "/client/settlement-evidence.tgz";
