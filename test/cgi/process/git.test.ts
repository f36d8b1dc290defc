/** The installed git is found and runs under Gatehouse's configuration only. */

import { existsSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import t from 'tap'
import { findGit, firstLine, gitEnvironment, runGit } from '../../../cgi/process/git.js'
import { runToEnd } from '../../../cgi/process/run.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const ours = await findGit()

async function pretend(folder: string, script: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return folder
}

t.test('git is found with its exec path, backend and configuration', async (t) => {
  t.ok(isAbsolute(ours.file) && isAbsolute(ours.execPath))
  t.ok(existsSync(ours.backend))
  t.ok(existsSync(ours.configFile))
  t.ok(ours.version[0] >= 2)
})

t.test(
  'a git that is missing, too old or without http-backend is refused with a clear message',
  async (t) => {
    const folder = await temporaryFolder(t)
    await t.rejects(findGit([folder]), /git is missing: none in/)
    const old = await pretend(join(folder, 'old'), 'echo git version 2.33.8')
    await t.rejects(findGit([old]), /git 2\.33\.8 is too old: 2\.34\.0 is needed/)
    const odd = await pretend(join(folder, 'odd'), 'echo hello')
    await t.rejects(findGit([odd]), /git --version printed no version/)
    const script = `[ $1 = --version ] && echo "git version 2.47.0.rc1 (Vendor 5)" || echo ${folder}`
    const bare = await pretend(join(folder, 'bare'), script)
    await t.rejects(findGit([bare]), /git-http-backend is missing/)
  },
)

t.test('without a working prlimit there are no limits', async (t) => {
  t.match(ours.prlimit, /\/prlimit$/)
  const folder = await temporaryFolder(t)
  await symlink(ours.file, join(folder, 'git'))
  t.equal((await findGit([folder])).prlimit, undefined)
  await writeFile(join(folder, 'prlimit'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  t.equal((await findGit([folder])).prlimit, undefined)
})

t.test(
  'git reads our configuration without a warning, and given settings override it',
  async (t) => {
    const ask = async (key: string, config: ReadonlyArray<readonly [string, string]> = []) => {
      const { output, errorText } = await runToEnd(ours.file, ['config', '--get-all', key], {
        cwd: '/',
        environment: gitEnvironment(ours, { config }),
        timeoutMs: 10_000,
        outputBytesMax: 10_000,
      })
      t.equal(errorText, '')
      return output.toString().trim()
    }
    t.equal(await ask('core.bigFileThreshold'), '1m')
    t.equal(await ask('http.getanyfile'), 'false')
    t.equal(await ask('user.name'), '', 'no setting of a user')
    t.equal(await ask('receive.maxInputSize', [['receive.maxInputSize', '77']]), '77')
  },
)

t.test("a git command returns its output, takes input, and fails with git's message", async (t) => {
  const cwd = await temporaryFolder(t)
  const id = await runGit(ours, ['hash-object', '--stdin'], { cwd, input: 'hello\n' })
  t.equal(id.toString(), 'ce013625030ba8dba906f756967f9e9ca394464a\n')
  await t.rejects(
    runGit(ours, ['rev-parse', 'HEAD'], { cwd }),
    /^git rev-parse failed \(128\): fatal: not a git repository/,
  )
  await t.rejects(
    runGit(ours, ['cat-file', '--batch'], { cwd, signal: AbortSignal.abort() }),
    /did not start: it was cancelled$/,
  )
  const environment = { GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' }
  const author = await runGit(ours, ['var', 'GIT_AUTHOR_IDENT'], { cwd, environment })
  t.match(author.toString(), /^Ada <ada@example\.com> /)
})

t.test('a path that a client would take for .git is not added to an index (F12)', async (t) => {
  const cwd = await temporaryFolder(t)
  await runGit(ours, ['init', '--quiet', '--bare'], { cwd })
  const id = (await runGit(ours, ['hash-object', '-w', '--stdin'], { cwd, input: '' })).toString()
  for (const folder of ['.git', '.g\u200cit', 'git~1', '.git::$INDEX_ALLOCATION', '..']) {
    const entry = `100644,${id.trim()},${folder}/config`
    await t.rejects(
      runGit(ours, ['update-index', '--add', '--cacheinfo', entry], { cwd }),
      /git update-index failed/,
      folder,
    )
  }
})

t.test('protocols that read local files or run programs are refused', async (t) => {
  const cwd = await temporaryFolder(t)
  for (const url of ['file:///etc', '/etc', 'ext::sh -c id', 'http://127.0.0.1:1/', 'git://x/']) {
    await t.rejects(
      runGit(ours, ['ls-remote', '--', url], { cwd }),
      /transport '\w+' not allowed/,
      url,
    )
  }
})

t.test("a full disk is reported in preference to git's other messages", async (t) => {
  const full = 'error: file write error: No space left on device'
  t.equal(firstLine(`warning: something\n${full}\nfatal: unable to write object\n`), full)
  t.equal(firstLine('\nfatal: one\nfatal: two\n'), 'fatal: one')
  const other = 'fatal: early EOF\nremote: fatal: No space left on device\n'
  t.equal(firstLine(other), 'fatal: early EOF', 'a full disk of the remote server is not reported')
})
