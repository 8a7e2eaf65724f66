/** The path that C2SP tlog-witness adds to a witness's address, `<service>/witness`. */
export const ADD_CHECKPOINT_PATH = "/witness/add-checkpoint";
