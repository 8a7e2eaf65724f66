/** How often the replica that syncs is killed: POSTGRES_KILLS, 5 unless set. Other kills are in proportion. */
export const LEADER_KILLS = Number(process.env["POSTGRES_KILLS"] ?? 5);
