/** SSH commands: only those that git sends are accepted. */

import fc from 'fast-check'
import t from 'tap'
import { parseCommand } from '../../../gateway/ssh/command.js'

const RANDOM_COMMANDS = 100_000

t.test('a command of git has one quoted argument, with or without slash and suffix', async (t) => {
  for (const verb of ['git-upload-pack', 'git upload-pack']) {
    for (const [argument, repo] of [
      ["'ada/work.git'", 'work.git'],
      ["'/ada/work.git'", 'work.git'],
      ["'ada/work'", 'work'],
      ["'/ada/a.b_c-d'", 'a.b_c-d'],
    ]) {
      const wanted = { kind: 'git', service: 'git-upload-pack', owner: 'ada', repo }
      t.same(parseCommand(`${verb} ${argument}`), wanted, `${verb} ${argument}`)
    }
  }
  t.match(parseCommand("git-receive-pack 'a/b'"), { service: 'git-receive-pack' })
  t.match(parseCommand("git receive-pack 'a/b'"), { service: 'git-receive-pack' })
  t.same(parseCommand("git-upload-archive 'a/b.git'"), { kind: 'archive' })
  t.same(parseCommand(''), { kind: 'login' })
})

t.test('a command of git-lfs names a repository, with or without quotes', async (t) => {
  const oid = 'a'.repeat(64)
  for (const argument of ['ada/work.git', "'ada/work.git'", '/ada/work.git', "'/ada/work.git'"]) {
    for (const operation of ['download', 'upload']) {
      for (const end of ['', ` ${oid}`]) {
        const text = `git-lfs-authenticate ${argument} ${operation}${end}`
        t.same(parseCommand(text), { kind: 'lfs', operation, owner: 'ada', repo: 'work.git' }, text)
      }
      const text = `git-lfs-transfer ${argument} ${operation}`
      t.same(parseCommand(text), { kind: 'lfs-transfer' }, text)
    }
  }
})

t.test('every other command is unknown', async (t) => {
  for (const text of [
    "git-upload-pack 'o/r.git'; id",
    "git-upload-pack 'o/r'\\''$(id)'\\'''",
    "git-upload-pack 'o/r'\\!''",
    'git-upload-pack o/r.git /etc',
    'git-upload-pack o/r.git',
    'git-upload-pack "o/r.git"',
    'git-upload-pack "o/r.git" --timeout=1',
    "git-upload-pack --strict 'o/r.git'",
    "git-upload-pack  'o/r'",
    "git-upload-pack\t'o/r'",
    " git-upload-pack 'o/r'",
    "git-upload-pack 'o/r' ",
    "git-upload-pack 'o/r'\n",
    "\ngit-upload-pack 'o/r'",
    "git-upload-pack 'o/r\n'",
    "git-upload-pack 'o/r\0'",
    "GIT-UPLOAD-PACK 'o/r'",
    "git-upload-pack '~root/x'",
    "git-upload-pack 'o/../p/priv'",
    "git-upload-pack '../p'",
    "git-upload-pack 'o/..'",
    "git-upload-pack 'o/.git'",
    "git-upload-pack '//o/r'",
    "git-upload-pack 'o//r'",
    "git-upload-pack 'o/r/'",
    "git-upload-pack 'o/r/x'",
    "git-upload-pack '/o'",
    "git-upload-pack '--help'",
    "git-upload-pack '-o/r'",
    "git-upload-pack 'o/-r'",
    "git-upload-pack ''",
    'git-upload-pack',
    "git-upload-pack 'o/r%2e'",
    "git-upload-pack 'ö/r'",
    'git-receive-pack --help',
    "git-lfs-authenticate 'o/private.git' foo",
    "git-lfs-authenticate 'o/r.git'",
    "git-lfs-authenticate 'o/r.git' UPLOAD",
    "git-lfs-authenticate 'o/r.git download",
    "git-lfs-authenticate o/r.git' download",
    'git-lfs-authenticate o/r.git download x',
    'git-lfs-authenticate o/r.git download\n',
    'git-lfs-authenticate o/../r download',
    'git-lfs-authenticate $(id)/r download',
    'git lfs-authenticate o/r download',
    "git-lfs-transfer 'o/private.git' x",
    "git-shell 'o/r'",
    "git-upload-pack-x 'o/r'",
    "sh -c 'o/r'",
    'repo commit x -- --output=/tmp/pwned',
    'scp -t .',
    '/usr/lib/sftp-server',
    `git-upload-pack '${'o'.repeat(300)}/r'`,
    `git-upload-pack 'o/r'${' '.repeat(1_000_000)}`,
    'x'.repeat(1_000_000),
  ]) {
    t.same(parseCommand(text), { kind: 'unknown' }, JSON.stringify(text.slice(0, 80)))
  }
})

/** Pieces of commands in any order. */
const anyPieces = fc
  .array(
    fc.constantFrom(
      'git',
      '-',
      ' ',
      'upload-pack',
      'receive-pack',
      'upload-archive',
      "'",
      "''",
      '"',
      '/',
      '..',
      '.',
      'ada',
      'work',
      '.git',
      '~',
      '--',
      '$(id)',
      '`',
      ';',
      '\\',
      '\n',
      '\0',
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

const VALID = [
  "git-upload-pack 'ada/work.git'",
  "git receive-pack '/a/b'",
  "git-upload-archive 'a/b'",
  "git-lfs-authenticate 'a/b' upload",
  'git-lfs-transfer a/b download',
]

/** A valid command with a part replaced by random text. */
const anyMutation = fc
  .tuple(
    fc.constantFrom(...VALID),
    fc.nat(30),
    fc.nat(4),
    fc.string({ unit: 'binary', maxLength: 3 }),
  )
  .map(([text, at, length, by]) => text.slice(0, at) + by + text.slice(at + length))

const anyText = fc.string({ unit: 'binary', maxLength: 300 })

t.test('no random command is accepted as another one', async (t) => {
  const taken = new Set<string>()
  let runs = 0
  fc.assert(
    fc.property(fc.oneof(anyPieces, anyMutation, anyText), (text) => {
      runs += 1
      const command = parseCommand(text)
      if (command.kind === 'unknown' || command.kind === 'login') return
      taken.add(command.kind)
      // The canonical form equals the text, except for the parts that git may omit.
      const normal = text.replace(/^git /, 'git-').replace("'/", "'")
      if (command.kind === 'archive') {
        if (!/^git-upload-archive '[\w.-]+\/[\w.-]+'$/.test(normal)) throw new Error('archive')
        return
      }
      if (command.kind === 'lfs' || command.kind === 'lfs-transfer') {
        const form = /^git-lfs-[a-z]+ '?\/?[\w.-]+\/[\w.-]+'? (?:download|upload)(?: [0-9a-f]+)?$/
        if (!form.test(text)) throw new Error('lfs')
        return
      }
      if (normal !== `${command.service} '${command.owner}/${command.repo}'`) throw new Error(text)
      if (!/^[A-Za-z0-9]/.test(command.owner) || !/^[A-Za-z0-9]/.test(command.repo)) {
        throw new Error('a name that begins like an option or a folder')
      }
    }),
    { numRuns: RANDOM_COMMANDS, verbose: false },
  )
  t.equal(runs, RANDOM_COMMANDS)
  t.same(
    [...taken].sort(),
    ['archive', 'git', 'lfs', 'lfs-transfer'],
    'some of them were valid commands',
  )
})
