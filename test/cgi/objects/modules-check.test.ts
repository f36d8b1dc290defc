/** A `.gitmodules` that git's own check finds dangerous to clones is refused. */

import t from 'tap'
import { refuseBadModules } from '../../../cgi/objects/modules-check.js'
import { findGit } from '../../../cgi/process/git.js'

const ours = await findGit()

const judge = (text: string, { name = '.gitmodules', mode = '100644' } = {}) =>
  refuseBadModules(ours, { name, mode, content: Buffer.from(text) })

const module = (path: string, url: string) => `[submodule "a"]\n\tpath = ${path}\n\turl = ${url}\n`

t.test('a .gitmodules that git accepts in a push is accepted', async () => {
  await judge('')
  await judge(module('lib/a', 'https://example.com/a.git'))
  await judge(module('lib/a', '../a.git').replaceAll('\n', '\r\n'))
})

t.test('a .gitmodules with a command or a path outside the folder is refused', async (t) => {
  const bad = { failure: 'invalid', message: /is unsafe to clone: gitmodules/ }
  await t.rejects(judge(module('a', '-u./payload')), bad)
  await t.rejects(judge(module('-a', 'https://example.com/a')), bad)
  await t.rejects(judge(module('a', 'https://example.com/a').replace('"a"', '"../../a"')), bad)
  await t.rejects(judge(module('a', '-u./x'), { name: '.GitModules ' }), bad)
  await t.rejects(judge(module('a', '-u./x'), { name: 'gitmod~1' }), bad)
  await t.rejects(judge('/etc/passwd', { mode: '120000' }), bad)
  await t.rejects(judge(module('"a\r"', 'https://example.com/a')), { message: /carriage return/ })
})
