/** The closed list of errors that clients get, by name, with the HTTP status of each. */
const STATUS_BY_FAILURE = {
  bad_request: 400,
  sign_in_required: 401,
  bad_credentials: 401,
  scope_missing: 401,
  forbidden: 403,
  mirrored: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  invalid: 422,
  archived: 423,
  throttled: 429,
  internal: 500,
  bad_gateway: 502,
  unavailable: 503,
  insufficient_storage: 507,
} as const

export type FailureName = keyof typeof STATUS_BY_FAILURE

export interface FailureOptions {
  readonly cause?: unknown
  /** Seconds after which the same request may succeed; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** The methods that the path supports; becomes `Allow`. */
  readonly allow?: readonly string[]
}

/**
 * An error that the client gets with its status and message. Any code may throw it, and the router
 * turns it into a reply. Any other thrown value is a bug: the reply is a 500 without detail.
 */
export class Failure extends Error {
  readonly failure: FailureName
  readonly status: number
  readonly retryAfterSeconds: number | undefined
  readonly allow: readonly string[] | undefined

  constructor(failure: FailureName, message: string, options: FailureOptions = {}) {
    super(message, { cause: options.cause })
    this.failure = failure
    this.status = STATUS_BY_FAILURE[failure]
    this.retryAfterSeconds = options.retryAfterSeconds
    this.allow = options.allow
  }
}

/**
 * Returns the error for a missing resource, and for one whose existence is hidden from the caller.
 * Both have the same message, which is Gitea's by default.
 */
export function notFound(message = 'not found'): Failure {
  return new Failure('not_found', message)
}

/** Returns true if `thrown` is a Failure with that name. */
export function isFailure(thrown: unknown, name: FailureName): thrown is Failure {
  return thrown instanceof Failure && thrown.failure === name
}
