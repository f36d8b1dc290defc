/** Bounds that nobody needs to set: every stream, list and name of the house ends somewhere. */

/** Bytes of request line and headers that the listener takes (RFC 9110 §5.4). */
export const HEADERS_BYTES_MAX = 16_384

/** Bytes of a JSON body. */
export const JSON_BYTES_MAX = 1_048_576

/** Bytes of a public SSH key with its comment: RSA of 16,384 bits needs 2,800. */
export const SSH_KEY_BYTES_MAX = 16_384

/** Bytes of a fetch request's body: the wants and haves of a repository of 200,000 refs. */
export const FETCH_REQUEST_BYTES_MAX = 33_554_432

/** KiB from which on a repository's clients are offered a bundle: less is there in a moment. */
export const BUNDLE_REPOSITORY_KIB_MIN = 4_096

/** Milliseconds that a short git command (init, rev-parse, fast-import of a README) may take. */
export const GIT_COMMAND_MS = 30_000

/** Bytes of a short git command's output that are kept. */
export const GIT_OUTPUT_BYTES_MAX = 16_777_216

/** Milliseconds that one step of upkeep may take; less than CRASH_GRACE_MS. */
export const MAINTENANCE_STEP_MS = 2_700_000

/** Milliseconds after which what lies about as after a crash is taken for that. */
export const CRASH_GRACE_MS = 3_600_000

/** Milliseconds without a byte either way after which a session over SSH ends. */
export const SSH_IDLE_MS = 600_000

/** Entries on one page of a list, when the caller names no limit, and at the most. */
export const PAGE_ENTRIES_DEFAULT = 30
export const PAGE_ENTRIES_MAX = 50

/** Characters of a password: argon2 hashes them all, so an endless one is a cost. */
export const PASSWORD_CHARACTERS_MIN = 8
export const PASSWORD_CHARACTERS_MAX = 256
