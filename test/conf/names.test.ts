/**
 * Names that lead elsewhere or resemble another name are refused; branch names follow git's rules.
 */

import { spawnSync } from 'node:child_process'
import { array, assert, constantFrom, property, string } from 'fast-check'
import t from 'tap'
import { isFailure } from '../../conf/failures.js'
import {
  parseBranchName,
  parseEmail,
  parseFileName,
  parseOwnerName,
  parseRepositoryName,
  parseTagName,
  parseTitle,
} from '../../conf/names.js'

type Parse = (text: string) => string

/** Returns true if `parse` returns the text and false if it is invalid; rethrows other errors. */
function takes(parse: Parse, text: string): boolean {
  try {
    return parse(text) === text
  } catch (error) {
    if (isFailure(error, 'invalid')) return false
    throw error
  }
}

/** Returns the text in ASCII, because a line separator in a message would break the report. */
function shown(text: string): string {
  const escaped = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`
  return `'${text.replace(/[^\u0020-\u007e]/gu, escaped)}'`
}

/** Dangerous names, grouped by their effect. */
const THREATS: Readonly<Record<string, readonly string[]>> = {
  'leave the folder of its owner': ['..', '.', '...', '../x', 'a/b', '/a', 'a\\b', 'a/../b', '~'],
  'be an encoded path out of the folder': ['%2e%2e', '..%2fx', 'a%00', '%'],
  'be cut off at a NUL': ['a\u0000', '\u0000', 'a\u0000.git'],
  'be another repository’s folder or wiki': [
    'x.git',
    'x.wiki',
    'x.GIT',
    'x.Wiki',
    '.git',
    'a.git.',
  ],
  'be a lock file of git': ['x.lock', 'x.LOCK'],
  'be an option of a command': ['-x', '--upload-pack=id', '-'],
  'be a device of Windows': ['con', 'CON', 'nul', 'con.txt', 'aux.tar.gz', 'com1', 'LPT9', 'prn.'],
  'be a feed of another page': ['x.rss', 'x.atom'],
  'fold to an ASCII name: Kelvin sign': ['\u212aernel', 'lin\u212a'],
  'fold to an ASCII name: dotless and dotted i': ['adm\u0131n', 'ADM\u0130N'],
  'fold to an ASCII name: sharp s': ['stra\u00dfe', 'STRA\u1e9eE'],
  'be one name in two spellings: composed, decomposed': ['caf\u00e9', 'cafe\u0301'],
  'resemble another name': ['\u0430da', 'a\u200bda', '\u202eada', 'ada\ufe0f'],
  'vanish at the end: dot and space': ['ada.', 'ada ', ' ada', 'ada\u00a0', 'ada\t'],
  'break a line or a header': ['a\nb', 'ada\n', 'a\r\nSet-Cookie: x', 'a\u2028b'],
  'be run by a shell': ['$(id)', '`id`', 'a;id', "a'b", 'a"b', 'a b', 'a*'],
  'be empty': [''],
}

for (const [threat, names] of Object.entries(THREATS)) {
  t.test(`no owner and no repository can ${threat}`, async (t) => {
    for (const name of names) {
      t.notOk(takes(parseOwnerName, name), `owner ${shown(name)}`)
      t.notOk(takes(parseRepositoryName, name), `repository ${shown(name)}`)
    }
  })
}

t.test('common names are accepted', async (t) => {
  for (const name of ['ada', 'Ada-1', 'a', '0', 'a.b', 'a_b-c.d', 'console', 'community', 'gitx']) {
    t.ok(takes(parseOwnerName, name), `owner ${name}`)
    t.ok(takes(parseRepositoryName, name), `repository ${name}`)
  }
  for (const name of ['dot.github.io', 'a--b', 'c__d', 'node-', 'x.github', 'git', 'api', 'lock']) {
    t.ok(takes(parseRepositoryName, name), `repository ${name}`)
  }
})

t.test('a name may have its maximum length and no more', async (t) => {
  t.ok(takes(parseOwnerName, 'a'.repeat(40)))
  t.notOk(takes(parseOwnerName, 'a'.repeat(41)))
  t.ok(takes(parseRepositoryName, 'a'.repeat(100)))
  t.notOk(takes(parseRepositoryName, 'a'.repeat(101)))
  t.throws(() => parseOwnerName('a'.repeat(1_000_000)), { message: /at most 40 characters/ })
})

t.test("an owner cannot have the name of one of the gateway's routes", async (t) => {
  for (const name of ['api', 'API', 'metrics', 'healthz', 'swagger.v1.json', 'user', 'assets']) {
    t.notOk(takes(parseOwnerName, name), name)
  }
})

t.test('an owner neither ends with a sign nor has two in a row', async (t) => {
  for (const name of ['ada-', 'ada_', 'ada.', 'a--b', 'a..b', 'a_-b']) {
    t.notOk(takes(parseOwnerName, name), name)
  }
})

t.test('every accepted name is ASCII and one path segment', async (t) => {
  const letters = constantFrom(...'aZ09._-/\\%: \u0000\u212a\u0131\u00df', '.git', '..', 'con')
  const texts = array(letters, { maxLength: 12 }).map((parts) => parts.join(''))
  const isPlain = (text: string) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text) && !/\.$/.test(text)
  for (const parse of [parseOwnerName, parseRepositoryName]) {
    await assert(property(texts, (text) => !takes(parse, text) || isPlain(text)))
    await assert(
      property(string({ unit: 'binary' }), (text) => !takes(parse, text) || isPlain(text)),
    )
  }
  t.pass()
})

const BRANCHES = [
  'main',
  'feature/x',
  'a.b',
  'é',
  '日本',
  'a@b',
  '@a',
  '{',
  'a./b',
  '%2e%2e',
  'MAIN',
  '$(id)',
  '',
  '@',
  'HEAD',
  '-',
  '-x',
  '--upload-pack=x',
  'a..b',
  '.a',
  'a/.b',
  'a.',
  'a/',
  '/a',
  'a//b',
  'a.lock',
  'a.lock/b',
  'a.LOCK',
  'a b',
  'a\tb',
  'a~',
  'a^',
  'a:',
  'a?',
  'a*',
  'a[',
  'a\\',
  'a]',
  'a@{',
  '@{-1}',
  '@{u}',
  'a@{1}',
  'a\u007f',
  'a\u0001',
  'a\nb',
  'refs/heads/a',
  'HEAD/a',
  'a\u200bb',
  '\u202ea',
  'a\u0301',
  '.',
  '..',
  '.git',
  'a.git',
  'a'.repeat(100),
]

/** Returns true for names that git accepts and we refuse. */
function isOursAlone(text: string): boolean {
  const isHeadInShort = text === '@'
  return isHeadInShort || Buffer.byteLength(text) > 100
}

function gitTakes(text: string): boolean {
  const { status } = spawnSync('git', ['check-ref-format', '--branch', text], { cwd: '/' })
  return status === 0
}

t.test('a branch name is accepted if git check-ref-format accepts it', async (t) => {
  for (const text of BRANCHES) {
    t.equal(takes(parseBranchName, text), gitTakes(text) && !isOursAlone(text), shown(text))
  }
})

t.test('a random branch name is accepted if git accepts it', async (t) => {
  const parts = ['a', 'B', '.', '/', '@', '{', '-', '.lock', 'HEAD', ' ', '~', '\\', 'é', '\u007f']
  const names = array(constantFrom(...parts), { minLength: 1, maxLength: 6 }).map((p) => p.join(''))
  const agrees = (text: string) =>
    takes(parseBranchName, text) === (gitTakes(text) && !isOursAlone(text))
  await assert(property(names, agrees), { numRuns: 150 })
  const printable = string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
  await assert(property(printable, agrees), { numRuns: 100 })
  t.pass()
})

t.test('a branch name has at most 100 bytes and is valid Unicode', async (t) => {
  t.notOk(takes(parseBranchName, 'a'.repeat(101)))
  t.notOk(takes(parseBranchName, 'é'.repeat(51)), 'bytes, not characters')
  t.notOk(takes(parseBranchName, 'a\ud800'), 'a lone surrogate would become another name on disk')
  t.notOk(takes(parseBranchName, 'a\u0000b'), 'a NUL would truncate the name')
  t.ok(takes(parseBranchName, '😀'))
})

t.test('an e-mail address is one that mail can be sent to', async (t) => {
  for (const email of ['ada@example.org', 'a.b+c@mail.example', "o'brien@example.org", 'a@b']) {
    t.ok(takes(parseEmail, email), email)
  }
  const wrong = ['', 'ada', '@example.org', 'ada@', 'a@b@c', 'a b@c', 'a@b\nBcc: c@d', '<a@b>']
  for (const email of [...wrong, 'a@b,c@d', 'adá@example.org', `${'a'.repeat(250)}@b.cc`]) {
    t.notOk(takes(parseEmail, email), shown(email))
  }
})

t.test('a title is any text without control characters', async (t) => {
  for (const title of ['k', 'ada’s laptop (2)', 'é 中 \u{1f511}', ' a ', '-rf', "'; drop"]) {
    t.ok(takes(parseTitle, title), shown(title))
  }
  const others = ['', ' ', '\n', 'a\nb', 'a\tb', '\u001b[2J', '\0', '\u007f', '\u009b1m']
  for (const title of [...others, '\u2028', '\u2029', '\ud800']) {
    t.notOk(takes(parseTitle, title), shown(title))
  }
})

t.test('a tag name is valid for git and cannot be taken for an option', async (t) => {
  for (const tag of ['v1', 'lib/v1.0', 'é', "a'b", '$(id)', 'a-d', 'x'.repeat(255)]) {
    t.ok(takes(parseTagName, tag), shown(tag))
  }
  for (const tag of ['', '-d', '--help', '-F/etc/passwd', 'a..b', 'a b', '@', 'x'.repeat(256)]) {
    t.notOk(takes(parseTagName, tag), shown(tag))
  }
})

t.test('a file name has no separators and no control characters', async (t) => {
  for (const name of [
    'a',
    'read me.txt',
    '.hidden',
    '-rf',
    'é 中 \u{1f511}',
    'שלום',
    'a..b',
    '...',
  ]) {
    t.ok(takes(parseFileName, name), shown(name))
  }
  const paths = ['', ' ', '.', '..', 'a/b', '../a', 'a\\b', '/a', 'a/']
  const hidden = ['a\nb', 'a\r', '\0', '\u001b[2J', '\u0085', '\u2028', '\u2029', '\ud800']
  const turned = ['a\u202egnp.exe', '\u202a', '\u2066', '\u2069', '\u200f', '\u061c']
  for (const name of [...paths, ...hidden, ...turned, 'x'.repeat(256)]) {
    t.notOk(takes(parseFileName, name), shown(name))
  }
})
