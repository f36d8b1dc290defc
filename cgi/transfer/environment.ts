/** The environment of git-http-backend (RFC 3875 §4.1), built from a fixed list of variables. */

import { basename, dirname } from 'node:path'
import { type Git, type GitSetting, gitEnvironment } from '../process/git.js'

/** The two services of the smart protocol. */
export type GitService = 'git-upload-pack' | 'git-receive-pack'

/** CGI variables for one request (RFC 3875 §4.1). Client headers are never copied by name. */
export interface BackendRequest {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  readonly method: 'GET' | 'POST'
  readonly suffix: 'info/refs' | GitService
  readonly service: GitService
  /** `Content-Type` as sent. Git answers 415 if it is not the type of the service. */
  readonly contentType?: string | undefined
  /** True if the body is compressed with gzip, the only encoding that git supports. */
  readonly gzip: boolean
  /** `Git-Protocol` as sent. */
  readonly gitProtocol?: string | undefined
  /** Name of the authenticated account. Without it, git refuses every push. */
  readonly remoteUser?: string | undefined
  readonly remoteAddress: string
  readonly config: readonly GitSetting[]
  /** Variables for the hooks of a push. */
  readonly variables?: Readonly<Record<string, string>> | undefined
}

const CONTENT_TYPES: ReadonlySet<string> = new Set([
  'application/x-git-upload-pack-request',
  'application/x-git-receive-pack-request',
])

const GIT_PROTOCOL = /^version=[0-2](?::[a-z0-9=.-]+)*$/
const GIT_PROTOCOL_BYTES_MAX = 256

/**
 * Returns the complete environment of git-http-backend for one request. CONTENT_LENGTH is not set:
 * with it, git 2.39 loops forever if its input ends early, as after a killed gateway. The length is
 * not needed, because pkt-lines and packs contain their own ends.
 */
export function backendEnvironment(git: Git, request: BackendRequest): Record<string, string> {
  const { repositoryPath, suffix, contentType = '' } = request
  const environment: Record<string, string> = {
    ...gitEnvironment(git, request),
    ...request.variables,
    GATEWAY_INTERFACE: 'CGI/1.1',
    SERVER_PROTOCOL: 'HTTP/1.1',
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_PROJECT_ROOT: dirname(repositoryPath),
    PATH_INFO: `/${basename(repositoryPath)}/${suffix}`,
    QUERY_STRING: suffix === 'info/refs' ? `service=${request.service}` : '',
    REQUEST_METHOD: request.method,
    REMOTE_ADDR: request.remoteAddress,
  }
  if (CONTENT_TYPES.has(contentType)) environment.CONTENT_TYPE = contentType
  if (request.gzip) environment.HTTP_CONTENT_ENCODING = 'gzip'
  if (request.remoteUser !== undefined) environment.REMOTE_USER = request.remoteUser
  return { ...environment, ...protocolEnvironment(request.gitProtocol) }
}

/**
 * Returns the version of the wire protocol of a stateless request with this `Git-Protocol`, as git
 * chooses it. Version 1 differs from 0 only in its advertisement.
 */
export function protocolVersionOf(gitProtocol = ''): 0 | 2 {
  const { GIT_PROTOCOL: valid = '' } = protocolEnvironment(gitProtocol)
  return valid.split(':').includes('version=2') ? 2 : 0
}

/** Returns the environment for a client's `Git-Protocol`; empty if its value is not valid. */
export function protocolEnvironment(gitProtocol = ''): Record<string, string> {
  const isKnown = gitProtocol.length <= GIT_PROTOCOL_BYTES_MAX && GIT_PROTOCOL.test(gitProtocol)
  return isKnown ? { GIT_PROTOCOL: gitProtocol } : {}
}
