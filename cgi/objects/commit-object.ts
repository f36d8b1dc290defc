/** Parsers of commits and annotated tags in git's object format. */

/** Name, email address and time of an author, committer or tagger. */
export interface Signature {
  readonly name: string
  readonly email: string
  readonly atMs: number
  /** Time zone in minutes east of UTC. */
  readonly offsetMinutes: number
}

/** An armored signature, and the signed bytes. */
export interface SignedBytes {
  readonly armored: string
  readonly payload: Buffer
}

export interface Commit {
  readonly id: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Signature
  readonly committer: Signature
  /** Unchanged: a line break at the end is kept. */
  readonly message: string
  /** Undefined if the commit is not signed. */
  readonly signature: SignedBytes | undefined
}

/** An annotated tag. */
export interface Tag {
  readonly id: string
  /** Id of the tagged object. */
  readonly object: string
  readonly type: 'commit' | 'tree' | 'blob' | 'tag'
  readonly name: string
  /** Undefined in very old tags. */
  readonly tagger: Signature | undefined
  readonly message: string
  /** Undefined if the tag is not signed. */
  readonly signature: SignedBytes | undefined
}

/** Parses a commit object. Malformed parts are read as git reads them. Never throws. */
export function parseCommit(id: string, content: Buffer): Commit {
  const { headers, message } = splitObject(content)
  const all = (key: string) => headers.filter(([name]) => name === key).map(([, value]) => value)
  const armored = all('gpgsig')[0] ?? all('gpgsig-sha256')[0]
  return {
    id,
    tree: all('tree')[0] ?? '',
    parents: all('parent'),
    author: parseSignature(all('author')[0] ?? ''),
    committer: parseSignature(all('committer')[0] ?? ''),
    message,
    signature: armored === undefined ? undefined : { armored, payload: withoutSignature(content) },
  }
}

/** Parses an annotated tag object. */
export function parseTag(id: string, content: Buffer): Tag {
  const { headers, message } = splitObject(content)
  const fields = new Map(headers)
  const tagger = fields.get('tagger')
  return {
    id,
    object: fields.get('object') ?? '',
    type: (fields.get('type') ?? 'commit') as Tag['type'],
    name: fields.get('tag') ?? '',
    tagger: tagger === undefined ? undefined : parseSignature(tagger),
    message,
    signature: signatureOfTag(content),
  }
}

/** Returns the signature at the end of a tag. As in git, the last line that begins one counts. */
function signatureOfTag(content: Buffer): SignedBytes | undefined {
  const begins = [...content.toString('latin1').matchAll(/^-----BEGIN (?:PGP|SSH|SIGNED) /gm)]
  const at = begins.at(-1)?.index
  if (at === undefined) return undefined
  return { armored: content.subarray(at).toString(), payload: content.subarray(0, at) }
}

type Headers = ReadonlyArray<readonly [key: string, value: string]>

/** Splits an object into headers and message. A leading space marks a continued header. */
function splitObject(content: Buffer): { readonly headers: Headers; readonly message: string } {
  const text = content.toString()
  const end = text.indexOf('\n\n')
  const head = end < 0 ? text : text.slice(0, end)
  const headers = head
    .replaceAll('\n ', '\u0000')
    .split('\n')
    .map((line): readonly [string, string] => {
      const space = line.indexOf(' ')
      return [line.slice(0, space), line.slice(space + 1).replaceAll('\u0000', '\n')]
    })
  return { headers, message: end < 0 ? '' : text.slice(end + 2) }
}

function withoutSignature(content: Buffer): Buffer {
  // Latin-1 keeps each byte, also of messages in other encodings than UTF-8.
  const text = content.toString('latin1')
  const end = text.indexOf('\n\n')
  const head = text.slice(0, end + 1).replace(/^gpgsig(?:-sha256)? .*\n(?: .*\n)*/gm, '')
  return Buffer.from(head + text.slice(end + 1), 'latin1')
}

/** Parses a signature such as `Ada <ada@example.com> 1700000000 +0100`. */
function parseSignature(text: string): Signature {
  const start = text.indexOf('<')
  const end = text.indexOf('>', start)
  if (start < 0 || end < 0) return { name: text, email: '', atMs: 0, offsetMinutes: 0 }
  const time = /^ (\d+) ([+-])(\d\d)(\d\d)/.exec(text.slice(end + 1)) ?? []
  const [, seconds = '0', sign = '+', hours = '0', minutes = '0'] = time
  const offset = Number(hours) * 60 + Number(minutes)
  return {
    name: text.slice(0, start).replace(/ $/, ''),
    email: text.slice(start + 1, end),
    // Largest time value of a Date (ECMA-262).
    atMs: Math.min(Number(seconds) * 1_000, 8.64e15),
    offsetMinutes: sign === '-' ? -offset : offset,
  }
}
