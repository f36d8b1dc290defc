/** Parser for Git's unified diffs. */

export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same' | 'hunk' | 'note'
  readonly text: string
}

export interface DiffFile {
  /** Name after the change, from the `diff --git` line. */
  readonly name: string
  readonly lines: readonly DiffLine[]
}

const KINDS: Readonly<Record<string, DiffLine['kind']>> = {
  '+': 'added',
  '-': 'removed',
  ' ': 'same',
  '@': 'hunk',
}

/** Parses at most `linesMax` lines; `isCut` is true if there are more. */
export function parseDiff(
  text: string,
  linesMax: number,
): { readonly files: readonly DiffFile[]; readonly isCut: boolean } {
  const files: Array<{ name: string; lines: DiffLine[] }> = []
  let isInHunk = false
  let count = 0
  for (const line of text.split('\n')) {
    if (line.startsWith('diff --git ')) {
      files.push({ name: nameIn(line), lines: [] })
      isInHunk = false
      continue
    }
    const file = files.at(-1)
    if (file === undefined || line === '') continue
    if (line.startsWith('@@ ')) isInHunk = true
    if (
      !isInHunk &&
      !/^(?:Binary files|rename |new file|deleted file|old mode|new mode)/.test(line)
    ) {
      continue
    }
    if (count === linesMax) return { files, isCut: true }
    count += 1
    const kind = isInHunk ? (KINDS[line[0] ?? ''] ?? 'note') : 'note'
    file.lines.push({ kind, text: line })
  }
  return { files, isCut: false }
}

/** Returns the name after `b/`. Unquoted names with spaces are found if both names are equal. */
function nameIn(line: string): string {
  const names = line.slice('diff --git '.length)
  const [, quoted] = /"b\/((?:[^"\\]|\\.)*)"$/.exec(names) ?? []
  if (quoted !== undefined) return unquote(quoted)
  const half = names.slice(0, (names.length - 1) / 2)
  if (half.slice(2) === names.slice(half.length + 3)) return half.slice(2)
  return names.slice(names.lastIndexOf(' b/') + 3)
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
}

/** Decodes a name that git quoted (git-config(1) `core.quotePath`): octal and letter escapes. */
function unquote(text: string): string {
  const bytes = text.replace(/\\(?:([0-7]{3})|(.))/g, (_, octal?: string, letter = '') =>
    octal === undefined
      ? (ESCAPES[letter] ?? letter)
      : String.fromCharCode(Number.parseInt(octal, 8)),
  )
  return Buffer.from(bytes, 'latin1').toString()
}
