/**
 * The longest time after its issue that an access token is accepted, in milliseconds, however long its provider would let it live: what
 * the provider decides, such as that a person may no longer sign in, takes effect after this time.
 */
export const MAX_TOKEN_AGE_MS = 15 * 60_000;
