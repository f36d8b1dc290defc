/** File paths that lead elsewhere on some system are refused, and others are kept unchanged. */

import t from 'tap'
import { isModulesName, isTreeName, parseFilePath } from '../../conf/file-path.js'

t.test('a path is split into its unchanged segments', async (t) => {
  t.strictSame(parseFilePath('README.md'), ['README.md'])
  t.strictSame(parseFilePath('a b/ü/-rf/.github/x.git'), ['a b', 'ü', '-rf', '.github', 'x.git'])
  for (const path of ['git~2', '.gitignore', 'a.git', '.git-x', 'con', '…', '$(id)', '%2e%2e']) {
    t.strictSame(parseFilePath(path), [path])
  }
})

/** Names that git or some file system takes for `.git`. */
const DOT_GITS = [
  '.git',
  '.GIT',
  '.gIt',
  'git~1',
  'GIT~1',
  '.git.',
  '.git ',
  '.git . .',
  'git~1.',
  '.git::$INDEX_ALLOCATION',
  '.git:x',
  '.git .:x',
  '.g\u200cit',
  '.\u202agit',
  '\ufeff.GiT',
  'a\\.git',
  '.git\\config',
  'a\\git~1 ',
]

t.test('a name that some system takes for .git is not valid in a tree', async (t) => {
  for (const name of [...DOT_GITS, '', '.', '..', 'a/b', 'a\0b']) {
    t.notOk(isTreeName(name), JSON.stringify(name))
  }
  for (const name of ['a', '...', '.gitx', 'git~10', 'x.git', 'a\\b', 'a\nb', '.g\u200bit']) {
    t.ok(isTreeName(name), JSON.stringify(name))
  }
})

t.test('a path that leads elsewhere or cannot be displayed is refused', async (t) => {
  const wrong = [
    ...DOT_GITS.flatMap((name) => [name, `${name}/config`, `a/${name}`]),
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/./b',
    'a/../b',
    '../a',
    'a\\b',
    '..\\a',
    'a\0b',
    'a\nb',
    'a\u007f',
    '\u009b0m',
    'a\ud800',
    'x'.repeat(256),
    'ü'.repeat(128),
    `${'a/'.repeat(100)}a`,
    'x'.repeat(200).concat('/').repeat(21).concat('x'),
  ]
  for (const path of wrong) {
    t.throws(
      () => parseFilePath(path),
      { message: /malformed path component/, failure: 'invalid' },
      JSON.stringify(path),
    )
  }
})

t.test('.gitmodules is recognized by all its equivalent names', async (t) => {
  const names = [
    '.gitmodules',
    '.GitModules',
    '.gitmodules ',
    'GITMOD~1',
    'gi7eba~1',
    '.git\u200dmodules',
  ]
  for (const name of names) t.ok(isModulesName(name), JSON.stringify(name))
  for (const name of ['gitmodules', '.gitmodules2', 'gitmod~5', '.gitmodule']) {
    t.notOk(isModulesName(name), name)
  }
})
