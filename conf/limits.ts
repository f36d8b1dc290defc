/** Bounds that nobody needs to set: every stream, list and name of the house ends somewhere. */

/** Bytes of request line and headers that the listener takes (RFC 9110 §5.4). */
export const HEADERS_BYTES_MAX = 16_384

/** Bytes of a JSON body. */
export const JSON_BYTES_MAX = 1_048_576

/**
 * Bytes of a JSON body that carries files in base64: one as large as answers tell, and a little
 * more. It stands in memory several times over; larger files are pushed.
 */
export const FILES_JSON_BYTES_MAX = 16_777_216

/** Values of a text of JSON: at this number it takes some milliseconds to parse and check. */
export const JSON_VALUES_MAX = 20_000

/** Files that one request changes: each costs a process. */
export const FILES_CHANGED_MAX = 1_000

/** Bytes of a file that a JSON answer still tells. */
export const FILE_CONTENT_BYTES_MAX = 10_485_760

/** Bytes of a public SSH key with its comment: RSA of 16,384 bits needs 2,800. */
export const SSH_KEY_BYTES_MAX = 16_384

/** Bytes of a fetch request's body: the wants and haves of a repository of 200,000 refs. */
export const FETCH_REQUEST_BYTES_MAX = 33_554_432

/** KiB from which on a repository's clients are offered a bundle: less is there in a moment. */
export const BUNDLE_REPOSITORY_KIB_MIN = 4_096

/** Milliseconds that a short git command (init, rev-parse, fast-import of a README) may take. */
export const GIT_COMMAND_MS = 30_000

/** Bytes of memory of one git process, unless `git.memory_max` says otherwise. */
export const GIT_MEMORY_BYTES_MAX = 536_870_912

/** Bytes of a short git command's output that are kept. */
export const GIT_OUTPUT_BYTES_MAX = 16_777_216

/** Milliseconds that one step of upkeep may take; less than CRASH_GRACE_MS. */
export const MAINTENANCE_STEP_MS = 2_700_000

/** Milliseconds that recovery may take to look for the objects of one interrupted push. */
export const CONNECTIVITY_MS = 600_000

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

/** Paths of a tree that are listed, and that an archive may hold: small trees can name billions. */
export const TREE_ENTRIES_MAX = 100_000
export const ARCHIVE_ENTRIES_MAX = 500_000

/** Bytes of a file that an answer of the API holds. */
export const BLOB_BYTES_MAX = 10_485_760

/** Bytes of a file, an archive or a diff that is sent as it stands. */
export const DOWNLOAD_BYTES_MAX = 17_179_869_184

/** Milliseconds that the copy of a repository for a fork may take. */
export const REPOSITORY_COPY_MS = 1_200_000

/** Bytes of a list of files that differ, or of the diff of one file, as git writes them. */
export const DIFF_LIST_BYTES_MAX = 16_777_216

/** Bytes of a whole diff. */
export const DIFF_BYTES_MAX = 268_435_456

/** Paths in which the two sides of a merge may differ from what they have in common. */
export const MERGE_PATHS_MAX = 200_000

/** Commits that a pull request may have for its rebase: each is made anew, one after the other. */
export const REBASE_COMMITS_MAX = 500

/** Inodes that a disk has free at least while new writes are accepted. */
export const DISK_FILES_FREE_MIN = 1_024
