/** Git's requests written by hand (gitprotocol-pack(5)): for clients that misbehave. */

/** One line of git's protocol: its length, then its text. */
export function packetLine(text: string): string {
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`
}

export interface GitRequest {
  readonly service: 'git-upload-pack' | 'git-receive-pack'
  readonly token: string
  /** Below the root; by default the one repository of most tests. */
  readonly path?: string
  /** Absent for a chunked body. */
  readonly bodyBytes?: number
  /** Further header lines, each with its end. */
  readonly headers?: string
}

/** The head of a request to a git service. */
export function gitRequest(request: GitRequest): string {
  const { service, token, path = 'ada/library.git', bodyBytes, headers = '' } = request
  const length =
    bodyBytes === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${bodyBytes}`
  return (
    `POST /${path}/${service} HTTP/1.1\r\nHost: gatehouse.example\r\n` +
    `Authorization: token ${token}\r\nContent-Type: application/x-${service}-request\r\n` +
    `${service === 'git-upload-pack' ? 'Git-Protocol: version=2\r\n' : ''}${length}\r\n${headers}\r\n`
  )
}

/** Asks for a commit with all its history, in protocol version 2. */
export function fetchBody(commit: string): Buffer {
  const lines = ['command=fetch', 'object-format=sha1']
  const args = ['no-progress\n', `want ${commit}\n`, 'done\n']
  return Buffer.from(`${lines.map(packetLine).join('')}0001${args.map(packetLine).join('')}0000`)
}

/** What comes before the pack: makes a reference that does not exist yet. */
export function pushHead(commit: string, ref: string): Buffer {
  const command = `${'0'.repeat(40)} ${commit} ${ref}\0 report-status\n`
  return Buffer.from(`${packetLine(command)}0000`)
}
