/** The account as which the jobs of workflows write. A migration has created it. */

/** Id of the account, which is below those of all others. */
export const JOBS_USER_ID = -2
