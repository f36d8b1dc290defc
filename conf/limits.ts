/** Fixed limits that are not settings. Every stream, list and name has one. */

/** Maximum size of request line and headers (RFC 9110 §5.4). */
export const HEADERS_BYTES_MAX = 16_384

/** Maximum size of a JSON body. */
export const JSON_BYTES_MAX = 1_048_576

/**
 * Maximum size of a JSON body with files in base64: enough for a file of `FILE_TOLD_BYTES_MAX`. The
 * body is in memory several times. Larger files can be pushed.
 */
export const FILES_JSON_BYTES_MAX = 16_777_216

/** Maximum number of values in a JSON body, which take some milliseconds to parse and validate. */
export const JSON_VALUES_MAX = 20_000

/** Maximum number of files that a request changes. Each needs a git process. */
export const FILES_CHANGED_MAX = 1_000

/** Maximum size of a file whose content is included in a JSON answer. */
export const FILE_CONTENT_BYTES_MAX = 10_485_760

/** Maximum size of a public SSH key with its comment. RSA with 16,384 bits needs 2,800 bytes. */
export const SSH_KEY_BYTES_MAX = 16_384

/** Maximum size of a fetch request: the wants and haves of a repository with 200,000 refs. */
export const FETCH_REQUEST_BYTES_MAX = 33_554_432

/** Minimum size of a repository, in KiB, for which clients are offered a bundle. */
export const BUNDLE_REPOSITORY_KIB_MIN = 4_096

/** Timeout of a short git command, such as init, rev-parse or a small fast-import. */
export const GIT_COMMAND_MS = 30_000

/** Memory limit of a git process if no setting is read; equals the default of `git.memory_max`. */
export const GIT_MEMORY_BYTES_MAX = 536_870_912

/** Maximum size of the output of a short git command. */
export const GIT_OUTPUT_BYTES_MAX = 16_777_216

/** Timeout of one step of upkeep; less than CRASH_GRACE_MS. */
export const MAINTENANCE_STEP_MS = 2_700_000

/** Timeout of the connectivity check of an interrupted push during crash recovery. */
export const CONNECTIVITY_MS = 600_000

/** Age after which locks and partial files are treated as leftovers of a crash. */
export const CRASH_GRACE_MS = 3_600_000

/** Idle timeout of an SSH session, in both directions. */
export const SSH_IDLE_MS = 600_000

/** Default and maximum number of entries on a page of a list. */
export const PAGE_ENTRIES_DEFAULT = 30
export const PAGE_ENTRIES_MAX = 50

/** Length limits of a password. The maximum bounds the cost of argon2, which hashes all of it. */
export const PASSWORD_CHARACTERS_MIN = 8
export const PASSWORD_CHARACTERS_MAX = 256

/** Maximum number of paths of a listing and of an archive: small trees can name billions. */
export const TREE_ENTRIES_MAX = 100_000
export const ARCHIVE_ENTRIES_MAX = 500_000

/** Maximum size of a file that the API returns in an answer. */
export const BLOB_BYTES_MAX = 10_485_760

/** Maximum size of a raw file, an archive or a diff that is streamed. */
export const DOWNLOAD_BYTES_MAX = 17_179_869_184

/** Timeout of the copy of a repository for a fork or from a template. */
export const REPOSITORY_COPY_MS = 1_200_000

/** Maximum size of git's output for a list of changed files, or for the diff of one file. */
export const DIFF_LIST_BYTES_MAX = 16_777_216

/** Maximum size of a complete diff. */
export const DIFF_BYTES_MAX = 268_435_456

/** Maximum number of paths in which both sides of a merge differ from the merge bases. */
export const MERGE_PATHS_MAX = 200_000

/** Maximum number of commits of a rebase, which rewrites them one after the other. */
export const REBASE_COMMITS_MAX = 500

/** Minimum number of free inodes of a disk while new writes are accepted. */
export const DISK_FILES_FREE_MIN = 1_024
